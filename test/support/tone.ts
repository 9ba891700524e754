/** A sound that browsers can play. */

const samplesPerSecond = 8_000;
const hz = 440;

/** A WAV file of half a second: one channel, 8 bits a sample. */
export function createTone(): Buffer {
  const samples = Buffer.from(
    Array.from({ length: samplesPerSecond / 2 }, (_, index) =>
      Math.round(128 + 100 * Math.sin((2 * Math.PI * hz * index) / samplesPerSecond)),
    ),
  );
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + samples.length, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(samplesPerSecond, 24);
  header.writeUInt32LE(samplesPerSecond, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}

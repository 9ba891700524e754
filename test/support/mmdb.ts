/**
 * Files in the MaxMind DB format for tests: writes small ones, and reads them without the
 * library of the product.
 */

type Value = string | number | readonly string[] | { readonly [name: string]: Value };

const marker = Buffer.from("\xab\xcd\xefMaxMind.com", "latin1");
const recordBytes = 3;
const separatorBytes = 16;

/** A file of IPv4 networks, each a text of bits with the record of its addresses. */
export function writeMmdb(networks: Readonly<Record<string, Value>>): Buffer {
  const nodes: [number | string | null, number | string | null][] = [[null, null]];
  for (const prefix of Object.keys(networks)) {
    let node = 0;
    for (const bit of prefix.slice(0, -1)) {
      const next = nodes[node]?.[Number(bit)];
      if (typeof next === "number") {
        node = next;
      } else {
        nodes.push([null, null]);
        Object.assign(nodes[node] ?? [], { [bit]: nodes.length - 1 });
        node = nodes.length - 1;
      }
    }
    Object.assign(nodes[node] ?? [], { [prefix.at(-1) ?? "0"]: prefix });
  }
  const offsets = new Map<string, number>();
  let data = Buffer.alloc(0);
  for (const [prefix, value] of Object.entries(networks)) {
    offsets.set(prefix, data.length);
    data = Buffer.concat([data, encode(value)]);
  }
  const tree = Buffer.alloc(nodes.length * 2 * recordBytes);
  for (const [index, one] of nodes.flat().entries()) {
    const isData = typeof one === "string";
    const target = isData ? nodes.length + separatorBytes + (offsets.get(one) ?? 0) : (one ?? nodes.length);
    tree.writeUIntBE(target, index * recordBytes, recordBytes);
  }
  const about = {
    node_count: nodes.length,
    record_size: 24,
    ip_version: 4,
    database_type: "Test",
    languages: ["en"],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1,
    description: {},
  };
  return Buffer.concat([tree, Buffer.alloc(separatorBytes), data, marker, encode(about)]);
}

/** Texts of up to 28 bytes, unsigned 32-bit numbers, and lists and maps of up to 28 members. */
function encode(value: Value): Buffer {
  if (typeof value === "string") {
    return Buffer.concat([Buffer.from([0x40 | Buffer.byteLength(value)]), Buffer.from(value)]);
  }
  if (typeof value === "number") {
    const number = Buffer.from([0xc4, 0, 0, 0, 0]);
    number.writeUInt32BE(value, 1);
    return number;
  }
  if (Array.isArray(value)) {
    return Buffer.concat([Buffer.from([value.length, 4]), ...value.map(encode)]);
  }
  const members = Object.entries(value).flatMap(([name, one]) => [encode(name), encode(one)]);
  return Buffer.concat([Buffer.from([0xe0 | (members.length / 2)]), ...members]);
}

/**
 * The `country_code` of an address in an IPv6 file with records of 24 bits, by its 16 bytes;
 * null if it has none.
 */
export function findCountryCode(file: Buffer, address: readonly number[]): string | null {
  const about = file.lastIndexOf(marker);
  const nodeCount = readNumber(file, file.indexOf("node_count", about) + "node_count".length);
  let node = 0;
  for (let bit = 0; bit < 128 && node < nodeCount; bit += 1) {
    const isSet = ((address[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
    node = file.readUIntBE((2 * node + isSet) * recordBytes, recordBytes);
  }
  if (node <= nodeCount) {
    return null;
  }
  const data = nodeCount * 2 * recordBytes + separatorBytes;
  const record = node - nodeCount - separatorBytes + data;
  const name = "country_code";
  // One member, whose name and value may each stand elsewhere.
  const nameAt = follow(file, data, record + 1);
  if (file[record] !== 0xe1 || file.toString("latin1", nameAt + 1, nameAt + 1 + name.length) !== name) {
    throw new Error("The record has another form");
  }
  const valueAt = follow(
    file,
    data,
    nameAt === record + 1 ? nameAt + 1 + name.length : afterPointer(file, record + 1),
  );
  return file.toString("latin1", valueAt + 1, valueAt + 3);
}

function readNumber(file: Buffer, at: number): number {
  return file.readUIntBE(at + 1, (file[at] ?? 0) & 31);
}

/** Where the value is that begins here, which may be a pointer. */
function follow(file: Buffer, data: number, at: number): number {
  const control = file[at] ?? 0;
  if (control >> 5 !== 1) {
    return at;
  }
  const base = [0, 2048, 526_336, 0];
  const size = (control >> 3) & 3;
  const high = size === 3 ? 0 : (control & 7) * 256 ** (size + 1);
  return data + high + file.readUIntBE(at + 1, size + 1) + (base[size] ?? 0);
}

function afterPointer(file: Buffer, at: number): number {
  return at + 2 + (((file[at] ?? 0) >> 3) & 3);
}

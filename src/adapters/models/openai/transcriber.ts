/** A speech recognition model behind `POST {base}/audio/transcriptions`. */
import { z } from "zod";
import type { Transcriber } from "../../../ports/models/transcriber.ts";
import { unreadable } from "./answers.ts";
import { callEndpoint, type Delay, type EndpointSettings } from "./endpoint.ts";

/** The limit of OpenAI. */
const maxBytes = 25_000_000;

/** An hour of speech has about 60,000 characters. */
const maxAnswerBytes = 2_000_000;

/** Some services add more, such as the language. */
const TranscriptAnswer = z.object({
  text: z.string(),
  language: z.string().max(64).nullish().catch(null),
});

export function createTranscriber(settings: EndpointSettings, wait?: Delay): Transcriber {
  const endpoint = { ...settings, prefix: "TIDINGS_TRANSCRIPTION", ...(wait ? { wait } : {}) } as const;
  return {
    maxBytes,
    async transcribe({ bytes, content_type, extension }, { signal }) {
      const answer = await callEndpoint(endpoint, {
        path: "/audio/transcriptions",
        body: { response_format: "json" },
        file: { name: `recording.${extension}`, content_type, bytes },
        maxAnswerBytes,
        signal,
      });
      if (!("value" in answer)) {
        return answer.failure;
      }
      const parsed = TranscriptAnswer.safeParse(answer.value);
      if (!parsed.success) {
        return unreadable("has an unknown form");
      }
      const { text, language = null } = parsed.data;
      return { outcome: "transcribed", text: text.trim(), language };
    },
  };
}

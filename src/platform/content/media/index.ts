/** Media of messages and templates: how they are stored and sent, and how a model sees them. */
export {
  type KeptFiles,
  type MediaTarget,
  readMedia,
  toChannelMedia,
  toMediaContent,
} from "./message-media.ts";
export { findMessageFile, type StoredFile, uploadedFile } from "./stored-file.ts";
export { viewFile } from "./view.ts";

/** What WhatsApp can do, and the simulated channel, which imitates it. */
import type { AddressKind } from "../../ports/channel/address.ts";
import type { ChannelCapabilities, MediaLimits } from "../../ports/channel/capabilities.ts";

const megabyte = 1024 * 1024;
const office = "application/vnd.openxmlformats-officedocument";

/** By Meta's page (developers.facebook.com, Cloud API, media reference). */
export const mediaLimits = {
  image: { maxBytes: 5 * megabyte, contentTypes: ["image/jpeg", "image/png"] },
  video: { maxBytes: 16 * megabyte, contentTypes: ["video/mp4", "video/3gpp"] },
  audio: {
    maxBytes: 16 * megabyte,
    contentTypes: ["audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"],
  },
  voice: { maxBytes: 16 * megabyte, contentTypes: ["audio/ogg"] },
  // 100 KB if nothing moves, which the type does not say.
  sticker: { maxBytes: 500 * 1024, contentTypes: ["image/webp"] },
  document: {
    maxBytes: 100 * megabyte,
    contentTypes: [
      "text/plain",
      "application/pdf",
      "application/msword",
      "application/vnd.ms-excel",
      "application/vnd.ms-powerpoint",
      `${office}.wordprocessingml.document`,
      `${office}.spreadsheetml.sheet`,
      `${office}.presentationml.presentation`,
    ],
  },
} as const satisfies MediaLimits;

/** The numbers, and the ids of persons who hide their numbers: business-scoped user ids. */
export const whatsAppAddresses = [
  { kind: "phone", pattern: /^\+\d+$/, isOpen: true },
  { kind: "bsuid", pattern: /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/, isOpen: false },
] as const satisfies readonly AddressKind[];

/** How persons are recognized, apart from their numbers. */
export type WhatsAppIdentities = {
  /** The number as WhatsApp writes it, digits only. */
  readonly wa_id?: string | null | undefined;
  /** WhatsApp's id of this person for this business, for example US.13491208655302741918. */
  readonly bsuid?: string | null | undefined;
  readonly username?: string | null | undefined;
};

const common: ChannelCapabilities = {
  platform: "whatsapp",
  isSimulated: false,
  addresses: whatsAppAddresses,
  hasWindow: true,
  hasReceipts: true,
  changes: ["reaction", "edit", "edit_caption", "delete"],
  media: mediaLimits,
  fetchesFiles: false,
  interactive: { buttons: 3, rows: 10 },
  extras: [
    "location",
    "cards",
    "link",
    "location_request",
    "address_request",
    "form",
    "product",
    "products",
    "catalog",
    "order_details",
    "order_status",
  ],
  // Meta's standard throughput, and its limit of one message in 6 seconds to one person, of which 45
  // may be sent at once.
  rate: { messagesPerSecond: 80, perPerson: { burst: 45, intervalMs: 6_000 } },
  isPriced: true,
};

export const whatsAppCapabilities: ChannelCapabilities = { ...common, readMarks: "typing" };

export const simulatorCapabilities: ChannelCapabilities = {
  ...common,
  isSimulated: true,
  fetchesFiles: true,
  rate: { messagesPerSecond: null, perPerson: null },
};

/** The content of a message by its type. Everything is shown as text: markup in it has no effect. */
import { Icon } from "../../controls/icon.tsx";
import { texts } from "../../texts.ts";
import type { Message } from "./open-conversation.ts";

export function MessageContent({ message }: { message: Message }) {
  const { deleted_at, text, media, template, interactive, reply, summary, referral, type } = message;
  if (deleted_at) {
    return <p class="text muted">{texts.conversation.deleted}</p>;
  }
  return (
    <>
      {media && <Media type={type} media={media} />}
      {text && <p class="text">{text.body}</p>}
      {reply && <p class="text">{reply.title}</p>}
      {summary && <p class="text">{summary}</p>}
      {referral && (
        <p class="muted">{texts.conversation.cameBy(referral.headline ?? referral.source_id ?? "")}</p>
      )}
      {template && <TemplateText template={template} />}
      {interactive && <Choices interactive={interactive} />}
      {type === "unsupported" && <p class="text muted">{texts.conversation.unsupported}</p>}
    </>
  );
}

type MediaFile = Pick<NonNullable<Message["media"]>, "url" | "caption" | "file_name">;

function Media({ type, media }: { type: string; media: MediaFile }) {
  return (
    <figure class="media">
      <MediaFileView type={type} media={media} />
      {media.caption && <figcaption class="text">{media.caption}</figcaption>}
    </figure>
  );
}

export function MediaFileView({
  type,
  media: { url, caption, file_name },
}: {
  type: string;
  media: MediaFile;
}) {
  // Files of other origins are not loaded: the page makes no request elsewhere.
  const path = pathOfOwnFile(url);
  const name = file_name ?? texts.messageTypes[type] ?? texts.conversation.file;
  if (path && (type === "image" || type === "sticker")) {
    return (
      <a href={path} target="_blank" rel="noreferrer">
        <img src={path} alt={caption ?? name} loading="lazy" />
      </a>
    );
  }
  if (path && type === "audio") {
    // biome-ignore lint/a11y/useMediaCaption: a customer's voice note has no captions
    return <audio controls preload="metadata" src={path} aria-label={name} />;
  }
  if (path && type === "video") {
    // biome-ignore lint/a11y/useMediaCaption: a customer's video has no captions
    return <video controls preload="metadata" src={path} aria-label={name} />;
  }
  return (
    <a class="row" href={path ?? url} target="_blank" rel="noreferrer">
      <Icon name="file" />
      {name}
    </a>
  );
}

/** The path of a file that this service stores; null for a file elsewhere. */
function pathOfOwnFile(address: string): string | null {
  const { origin, hostname, port, pathname, search } = new URL(address, location.href);
  const isSameHost = loopback.test(hostname) && loopback.test(location.hostname) && port === location.port;
  return origin === location.origin || isSameHost ? `${pathname}${search}` : null;
}

/** The names of this machine: links to files have the one that the service listens on. */
const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

type SentTemplate = NonNullable<Message["template"]>;

type HeaderLocation = NonNullable<NonNullable<SentTemplate["header"]>["location"]>;

export function HeaderPlace({ location: { name, address } }: { readonly location: HeaderLocation }) {
  return (
    <p>
      <strong>{name}</strong>
      <br />
      <span class="small muted">{address}</span>
    </p>
  );
}

export function TemplateText({
  template,
}: {
  template: Pick<SentTemplate, "header" | "body" | "footer" | "buttons" | "offer" | "cards">;
}) {
  const { header, body, footer, buttons, offer, cards = [] } = template;
  return (
    <div class="stack template">
      {header?.media && <MediaFileView type={header.type} media={{ ...header.media, caption: null }} />}
      {header?.text && <strong>{header.text}</strong>}
      {header?.location && <HeaderPlace location={header.location} />}
      {offer && <OfferText offer={offer} />}
      <p class="text">{body}</p>
      {footer && <p class="small muted">{footer}</p>}
      {buttons.map((button) => (
        <p class="choice" key={button.text}>
          {button.text}
        </p>
      ))}
      {cards.map(({ header: { type, media }, ...card }, index) => (
        <div class="stack" key={index}>
          {media.url !== "" && <MediaFileView type={type} media={{ ...media, caption: null }} />}
          {card.body && <p class="text">{card.body}</p>}
          {card.buttons.map((button) => (
            <p class="choice" key={button.text}>
              {button.text}
            </p>
          ))}
        </div>
      ))}
    </div>
  );
}

export function OfferText({ offer: { text, expires_at } }: { offer: NonNullable<SentTemplate["offer"]> }) {
  return (
    <p>
      <strong>{text}</strong>
      {expires_at !== null && (
        <>
          <br />
          <span class="small muted">{expires_at}</span>
        </>
      )}
    </p>
  );
}

/** What an interactive message has; see the operation `send_message`. */
interface Interactive extends Offers {
  readonly header?: string;
  readonly body?: string;
  readonly footer?: string;
  readonly buttons?: readonly { readonly id: string; readonly title: string }[];
  readonly list?: {
    readonly button: string;
    readonly sections: readonly {
      readonly title?: string;
      readonly rows: readonly { readonly id: string; readonly title: string }[];
    }[];
  };
  readonly header_media?: HeaderFile;
}

interface HeaderFile {
  readonly type: string;
  readonly url: string;
  readonly file_name?: string | undefined;
}

/** What a message may offer besides buttons and a list. */
interface Offers {
  readonly link?: { readonly title: string; readonly url: string } | undefined;
  readonly form?: { readonly button: string } | undefined;
  readonly order_details?: { readonly total: number; readonly currency: string } | undefined;
  readonly location_request?: true | undefined;
  readonly address_request?: unknown;
  readonly product?: unknown;
  readonly products?: unknown;
  readonly catalog?: unknown;
}

/** The labels of what the contact can tap besides buttons and rows, as the channel shows them. */
export function offerLabels(interactive: Offers): readonly string[] {
  const { link, form, order_details: order } = interactive;
  const { offers } = texts.conversation;
  const labels = [
    link && `${link.title}: ${link.url}`,
    form?.button,
    order && offers.pay(`${order.total} ${order.currency}`),
    interactive.location_request && offers.location,
    interactive.address_request ? offers.address : undefined,
    interactive.product ? offers.product : undefined,
    interactive.products ? offers.products : undefined,
    interactive.catalog ? offers.catalog : undefined,
  ];
  return labels.flatMap((label) => label ?? []);
}

export function HeaderMedia({ media: { type, url, file_name } }: { media: HeaderFile }) {
  return <MediaFileView type={type} media={{ url, caption: null, file_name: file_name ?? null }} />;
}

function Choices({ interactive }: { interactive: Interactive }) {
  const { header, header_media: media, body, footer, buttons = [], list } = interactive;
  const rows = list?.sections.flatMap((section) => section.rows) ?? [];
  const others = offerLabels(interactive).map((title) => ({ id: title, title }));
  return (
    <div class="stack template">
      {media && <HeaderMedia media={media} />}
      {header && <strong>{header}</strong>}
      <p class="text">{body}</p>
      {footer && <p class="small muted">{footer}</p>}
      {[...buttons, ...rows, ...others].map(({ id, title }) => (
        <p class="choice" key={id}>
          {title}
        </p>
      ))}
    </div>
  );
}

/** A message in one line, for quotes. */
export function describeContent(message: Message): string {
  const { text, reply, template, media, interactive, summary, type } = message;
  const body = interactive?.body;
  return (
    text?.body ??
    reply?.title ??
    template?.body ??
    media?.caption ??
    (typeof body === "string" ? body : undefined) ??
    summary ??
    texts.messageTypes[type] ??
    type
  );
}

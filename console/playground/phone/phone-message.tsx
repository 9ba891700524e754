/** One message on the phone, with what the customer can tap. */
import type { ComponentChildren } from "preact";
import { Icon } from "../../controls/icon.tsx";
import {
  HeaderMedia,
  HeaderPlace,
  MediaFileView,
  OfferText,
  offerLabels,
} from "../../inbox/conversation/message-content.tsx";
import { texts } from "../../texts.ts";
import { formatClock, formatComplete } from "../../time.ts";
import type { PhoneMessage } from "../simulator.ts";
import { FormattedText } from "./format-text.tsx";

const words = texts.playground.phone;

interface Choice {
  readonly id: string;
  readonly title: string;
}

interface Props {
  readonly message: PhoneMessage;
  readonly onChoose: (choice: Choice, message: PhoneMessage) => void;
}

export function PhoneBubble({ message, onChoose }: Props) {
  const { id, direction, status, created_at } = message;
  const isOwn = direction === "inbound";
  return (
    <li class={`phone-bubble${isOwn ? " own" : ""}${status === "failed" ? " failed" : ""}`} data-phone={id}>
      <Content message={message} onChoose={(choice) => onChoose(choice, message)} />
      <p class="row small muted progress">
        <time dateTime={created_at} title={formatComplete(created_at)}>
          {formatClock(created_at)}
        </time>
        <span class={`tick ${status}`} title={words.statuses[status]}>
          <Icon name={tickOf[status]} size={16} />
          <span class="visually-hidden">{words.statuses[status]}</span>
        </span>
      </p>
      {status === "failed" && <p class="small failure">{words.statuses.failed}</p>}
    </li>
  );
}

const tickOf = {
  accepted: "clock",
  sent: "check",
  delivered: "checks",
  read: "checks",
  failed: "warning",
  received: "check",
} as const;

interface ContentProps {
  readonly message: PhoneMessage;
  readonly onChoose: (choice: Choice) => void;
}

function Content({
  message: { type, status, text, media, reply, interactive, template, summary },
  onChoose,
}: ContentProps) {
  const canChoose = status !== "failed";
  return (
    <>
      {media && (
        <figure class="media">
          <MediaFileView type={type} media={media} />
          {media.caption && (
            <figcaption>
              <FormattedText text={media.caption} />
            </figcaption>
          )}
        </figure>
      )}
      {text && <FormattedText text={text.body} />}
      {reply && <p class="text">{reply.title}</p>}
      {summary && <p class="text">{summary}</p>}
      {interactive?.header_media && <HeaderMedia media={interactive.header_media} />}
      {interactive && (
        <Framed header={interactive.header} body={interactive.body} footer={interactive.footer}>
          {interactive.buttons?.map((choice) => (
            <ChoiceButton key={choice.id} choice={choice} disabled={!canChoose} onChoose={onChoose} />
          ))}
          {interactive.list && (
            <ChoiceList list={interactive.list} disabled={!canChoose} onChoose={onChoose} />
          )}
          {offerLabels(interactive).map((label) => (
            <p class="choice small" key={label}>
              {label}
            </p>
          ))}
        </Framed>
      )}
      {template && <SentTemplate template={template} disabled={!canChoose} onChoose={onChoose} />}
    </>
  );
}

interface FramedProps {
  readonly header?: string | undefined;
  readonly body: string;
  readonly footer?: string | null | undefined;
  readonly children: ComponentChildren;
}

function Framed({ header, body, footer, children }: FramedProps) {
  return (
    <div class="stack template">
      {header && <strong>{header}</strong>}
      <FormattedText text={body} />
      {footer && <p class="small muted">{footer}</p>}
      {children}
    </div>
  );
}

interface ChoiceProps {
  readonly disabled: boolean;
  readonly onChoose: (choice: Choice) => void;
}

function ChoiceButton({ choice, disabled, onChoose }: ChoiceProps & { readonly choice: Choice }) {
  const { id, title } = choice;
  return (
    <button type="button" disabled={disabled} onClick={() => onChoose({ id, title })}>
      {title}
    </button>
  );
}

type List = NonNullable<NonNullable<PhoneMessage["interactive"]>["list"]>;

/** The rows are below the button that opens them. */
function ChoiceList({ list, ...props }: ChoiceProps & { readonly list: List }) {
  return (
    <details class="choices">
      <summary>{list.button}</summary>
      {list.sections.map((section) => (
        <div class="stack" key={section.title ?? ""}>
          {section.title && <h3>{section.title}</h3>}
          {section.rows.map((row) => (
            <div class="stack" key={row.id}>
              <ChoiceButton choice={row} {...props} />
              {row.description && <p class="small muted">{row.description}</p>}
            </div>
          ))}
        </div>
      ))}
    </details>
  );
}

type Template = NonNullable<PhoneMessage["template"]>;

function SentTemplate({ template, ...props }: ChoiceProps & { readonly template: Template }) {
  const { header, body, footer, buttons, offer } = template;
  return (
    <>
      {offer && <OfferText offer={offer} />}
      {header?.media && <MediaFileView type={header.type} media={{ ...header.media, caption: null }} />}
      {header?.location && <HeaderPlace location={header.location} />}
      <Framed header={header?.text} body={body} footer={footer}>
        {buttons.map(({ type, text, payload, url, phone_number, code }) =>
          type === "quick_reply" ? (
            <ChoiceButton key={text} choice={{ id: payload ?? text, title: text }} {...props} />
          ) : (
            <p class="choice small" key={text}>
              {text}
              <span class="muted link-target">{url ?? phone_number ?? code}</span>
            </p>
          ),
        )}
      </Framed>
    </>
  );
}

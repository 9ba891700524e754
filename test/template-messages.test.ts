/** Messages with templates: which template is meant, its media, and when it is allowed. */
import { beforeAll, describe, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { templates } from "../tools/templates/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { png } from "./support/files.ts";
import { createOrganizationFor } from "./support/operator.ts";
import { openPhone } from "./support/simulator.ts";
import { createTemplateHelpers } from "./support/templates.ts";
import { createUploadHelpers } from "./support/uploads.ts";

const app = useTestApp();
const uploads = createUploadHelpers(app);
const { approve, send, sendAndRead } = createTemplateHelpers(app);

const shipped = {
  name: "shipped",
  template_data: { body: "Hello {{1}}, your order {{2}} is on its way to you." },
};

const variables = { "1": "Ann", "2": "A-17" };

/** Outside the window a strict inbox takes nothing but templates. */
async function requireWindow() {
  const { data } = await app.call(inboxes.list_inboxes, {});
  const id = data[0]?.id ?? "";
  await app.call(inboxes.update_inbox, { id, settings: { service_window: "strict" } });
}

beforeAll(async () => {
  await requireWindow();
  await approve(shipped);
});

test("a template of another organization with the same name is not shown by a rejection", async () => {
  const rejection = async () => {
    const { status, error } = await expectFailure(send("+14155550171", { name: "greeting" }));
    return { status, error: { ...error, request_id: undefined } };
  };
  const before = await rejection();
  expect(before).toMatchObject({ status: 422, error: { code: "template_not_approved" } });
  const { key } = await createOrganizationFor(app, "Other");
  const theirs = { name: "greeting", category: "utility", template_data: { body: "Hello." } } as const;
  const { data } = await app.call(templates.create_template, theirs, { key });
  expect(await rejection()).toEqual(before);
  await app.call(templates.submit_template, { id: data.id }, { key });
  await app.advanceTime(1_000);
  expect((await app.call(templates.get_template, { id: data.id }, { key })).data.status).toBe("approved");
  expect(await rejection()).toEqual(before);
});

describe("a media header", () => {
  test("is an upload or an address, and by default the sample", async () => {
    const image = await uploads.upload({ name: "logo.png", bytes: png });
    const other = "https://example.com/other.png";
    const header = { type: "image" as const, media_url: image.storage_url };
    await approve({ name: "pictured", template_data: { body: "Look at this.", header } });
    const sample = await sendAndRead("+14155550114", { name: "pictured" });
    expect(sample.template?.header).toEqual({
      type: "image",
      media: { url: image.storage_url, file_name: null },
    });
    const given = await sendAndRead("+14155550114", { name: "pictured", header_media_url: other });
    expect(given.template?.header?.media?.url).toBe(other);
    const parameters = [{ type: "image", image: { link: other } }];
    const component = await sendAndRead("+14155550114", {
      name: "pictured",
      components: [{ type: "header", parameters }],
    });
    expect(component.template?.header?.media?.url).toBe(other);
    await app.runDueJobs();
    const [first] = (await openPhone(app, "+14155550114").listMessages()) as unknown as {
      template: { header: { media: { url: string } } };
    }[];
    expect(first?.template.header.media.url).toMatch(/\/files\/.*signature=/);
    expect((await fetch(first?.template.header.media.url ?? "")).status).toBe(200);
  });

  test("that the channel does not take is rejected", async () => {
    const file = await uploads.upload({ name: "a.csv", bytes: Buffer.from("a,b\n1,2\n") });
    await approve({
      name: "documented",
      template_data: {
        body: "Read this.",
        header: { type: "document", media_url: "https://example.com/a.pdf" },
      },
    });
    const failure = await expectFailure(
      send("+14155550114", { name: "documented", header_media_url: file.storage_url }),
    );
    expect(failure).toMatchObject({
      status: 422,
      code: "media_not_sendable",
      error: { param: "template.header_media_url" },
    });
  });
});

describe("a template that is not approved", () => {
  const reasonOf = async (template: Parameters<typeof send>[1], more?: object) => {
    const failure = await expectFailure(send("+14155550115", template, more));
    expect(failure).toMatchObject({ status: 422, code: "template_not_approved" });
    return failure.error?.reason;
  };

  test("is named with what is approved instead", async () => {
    await app.call(templates.create_template, {
      name: "unfinished",
      category: "utility",
      template_data: { body: "Hello." },
    });
    expect(await reasonOf({ name: "unfinished" })).toBe("it is a draft.");
    expect(await reasonOf({ name: "shipped", language: "de" })).toBe("it is approved in en.");
    expect(await reasonOf({ name: "shiped" })).toBe("did you mean shipped?");
    expect(await reasonOf({ name: "qqqqqqqqqqqqq" })).toBe("there is none of this name.");
  });

  test("for this inbox may be for another", async () => {
    const { data: second } = await app.call(inboxes.create_inbox, {
      name: "Two",
      phone_number: "+14155550178",
    });
    const { inbox_id } = await approve({ name: "one_inbox" });
    expect(await reasonOf({ name: "one_inbox" }, { inbox_id: second.id })).toBe(
      `it is approved for another inbox: send inbox_id ${inbox_id}.`,
    );
  });
});

describe("outside the window", () => {
  test("free text is rejected with up to three utility templates that may be sent", async () => {
    for (const name of ["a", "b", "c"]) {
      await approve({ name: `plain_${name}` });
    }
    await approve({ name: "offer", category: "marketing" });
    const text = { to: "+14155550116", type: "text", text: { body: "Hi" } } as const;
    const failure = await expectFailure(app.call(messages.send_message, text));
    expect(failure).toMatchObject({ status: 422, code: "outside_service_window" });
    expect(failure.error?.suggestions).toEqual(
      ["plain_c", "plain_b", "plain_a"].map((name) => ({ name, language: "en", variables: [] })),
    );
    const { data } = await send(text.to, { name: "plain_a" });
    expect(data).toMatchObject({ status: "queued" });
    await app.advanceTime(1_000);
    const shown = await openPhone(app, text.to).listMessages();
    expect(shown).toMatchObject([{ type: "template", status: "delivered" }]);
  });

  test("a credential that may not read templates gets no suggestions", async () => {
    const { data } = await app.call(apiKeys.create_api_key, {
      name: "writer",
      scopes: ["inbox:write"],
    });
    const text = { to: "+14155550116", type: "text", text: { body: "Hi" } } as const;
    const failure = await expectFailure(app.call(messages.send_message, text, { key: data.secret_key }));
    expect(failure.error?.suggestions).toEqual([]);
  });
});

test("events of a message name its template", async () => {
  await sendAndRead("+14155550117", { name: "shipped", variables });
  await app.advanceTime(1_000);
  const events = app.server.database.queries.selectFrom("events").selectAll();
  const rows = await events.orderBy("transaction_id").orderBy("id").execute();
  const sent = rows.map(({ body }) => JSON.parse(body)).filter(({ data }) => data.to === "+14155550117");
  expect(sent.map(({ type, data }) => [type, data.template_name])).toEqual([
    ["message.sent", "shipped"],
    ["message.delivered", "shipped"],
  ]);
});

describe("a contact who does not want messages", () => {
  const optOut = async (to: string, opted_out: boolean) => {
    const { data } = await app.call(contacts.upsert_contact, { phone_number: to });
    await app.call(contacts.update_contact, { id: data.id, opted_out });
  };

  test("and opted out gets no marketing template, and every other one", async () => {
    const to = "+14155550118";
    await approve({ name: "sale", category: "marketing" });
    await optOut(to, true);
    expect(await expectFailure(send(to, { name: "sale" }))).toMatchObject({
      status: 422,
      code: "contact_opted_out",
    });
    expect((await send(to, { name: "shipped", variables })).data.status).toBe("queued");
    await optOut(to, false);
    expect((await send(to, { name: "sale" })).data.status).toBe("queued");
  });

  test("and is blocked gets no template at all", async () => {
    const to = "+14155550120";
    const { data } = await app.call(contacts.upsert_contact, { phone_number: to });
    await app.call(contacts.update_contact, { id: data.id, blocked: true });
    expect(await expectFailure(send(to, { name: "shipped", variables }))).toMatchObject({
      status: 422,
      code: "contact_blocked",
    });
  });

  test("gets no marketing template that waited while the contact opted out", async () => {
    const to = "+14155550119";
    await approve({ name: "sale_again", category: "marketing" });
    const { data } = await send(to, { name: "sale_again" });
    await optOut(to, true);
    await app.advanceTime(1_000);
    const { conversation_id, id: message_id } = data;
    const message = await app.call(messages.get_message, { conversation_id, message_id });
    expect(message.data).toMatchObject({ status: "failed", error: { code: "marketing_opt_out" } });
    expect(await openPhone(app, to).listMessages()).toEqual([]);
  });
});

/** Uploads: files are looked at while they come, put aside, and recorded when they are whole. */
import { fail, failField } from "../../../tools/errors.ts";
import { uploads as contract } from "../../../tools/uploads.ts";
import { holds, readPage } from "../../database/query/index.ts";
import { implement, type World } from "../kernel/index.ts";
import { getUpload, kept } from "./find.ts";
import { linkTo } from "./links.ts";
import { discard, fetchFile, keep, type Received, receive } from "./receive.ts";
import { deleteUpload, forgetArrivals, removal } from "./remove.ts";

export { findUploadAt, getUpload } from "./find.ts";
export { freshLink } from "./links.ts";
export { type FileRequest, type OpenedFile, openFile } from "./open.ts";
export { discard, fetchFile, keep } from "./receive.ts";

export const uploads = implement(contract, {
  operations: {
    async upload_file(arriving, context) {
      const { world } = context;
      let received: Received | undefined;
      let isKept = false;
      try {
        const { input, file } = await arriving.read(async (incoming) => {
          received = await receive(context, incoming);
          return received;
        });
        requireOne({ file, content_base64: input.content_base64, url: input.url });
        received = file ?? (await receiveInput(context, input));
        const taken = received;
        const facts = file ? { sha256: file.sha256, file_name: file.file_name } : null;
        await context.commit(facts, async ({ tx, now }) => {
          const row = await keep(tx, taken, input.generate_cdn && world.addresses.cdn !== undefined);
          isKept = true;
          return { data: show(world, row, now) };
        });
      } catch (error) {
        isKept = false;
        throw error;
      } finally {
        if (received && !isKept) {
          await discard(world, received);
        }
      }
    },

    async list_uploads({ search, ...paging }, { db, world, organization, now }) {
      const found = kept(db, organization)
        .$if(search !== undefined, (query) => query.where(holds(search ?? "", "file_name")))
        .orderBy("id", "desc");
      const { rows, meta } = await readPage(found, paging);
      return { data: rows.map((row) => showKept(world, row, now)), meta };
    },

    async get_upload({ id }, { db, world, organization, now }) {
      return { data: showKept(world, await getUpload(db, organization, id, "id"), now) };
    },

    async delete_upload({ id }, context) {
      await deleteUpload(context, id);
      return { data: { deleted: true as const } };
    },
  },
  jobs: [forgetArrivals, removal],
});

interface Input {
  readonly content_base64?: string | undefined;
  readonly url?: string | undefined;
  readonly file_name?: string | undefined;
  readonly content_type?: string | undefined;
}

async function receiveInput(owner: { world: World; organization: string }, input: Input): Promise<Received> {
  const { content_base64 = "", url, file_name, content_type } = input;
  if (url !== undefined) {
    return fetchFile(owner, { url, file_name, content_type });
  }
  if (file_name === undefined) {
    throw failField("file_name", "file_name_needed");
  }
  const body = async function* () {
    yield Buffer.from(content_base64, "base64");
  };
  return receive(owner, { name: file_name, type: content_type, body: body() });
}

/** By hand and not in the schema: no client takes a choice between fields there. */
function requireOne(sources: Readonly<Record<string, unknown>>): void {
  const given = Object.values(sources).filter((value) => value !== undefined);
  if (given.length !== 1) {
    throw fail("one_source_needed", { count: given.length, known: "file, content_base64 and url" });
  }
}

function show(world: World, row: Row, now: Date) {
  const { url, expires_at } = linkTo(world, row.key, now);
  const { cdn } = world.addresses;
  return {
    id: row.id,
    storage_url: url,
    storage_url_expires_at: expires_at,
    ...(row.is_public && cdn !== undefined ? { cdn_url: `${cdn}/${row.key}` } : {}),
    file_name: row.file_name,
    file_size: row.file_size ?? 0,
    content_type: row.content_type,
  };
}

function showKept(world: World, row: Row, now: Date) {
  return { ...show(world, row, now), created_at: row.created_at };
}

type Row = Awaited<ReturnType<typeof keep>>;

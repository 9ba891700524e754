/** Uploads: files are inspected while they are received, written to the store, and recorded when complete. */
import { fail, failField } from "../../../../tools/errors.ts";
import { uploads as contract } from "../../../../tools/uploads.ts";
import { containsText, readPage } from "../../../database/query/index.ts";
import { implement, type World } from "../../foundation/kernel/index.ts";
import { getAccessibleUpload, getAccessibleUploadAt, isAccessible } from "./access.ts";
import { fileRoute } from "./file-route.ts";
import { selectUploads, type UploadRow } from "./find.ts";
import { createLink } from "./links.ts";
import {
  commitUpload,
  discardFile,
  fetchFile,
  type ReceivedFile,
  receiveFile,
  type UploadOwner,
} from "./receive.ts";
import { deleteUnfinishedUploadsJob, deleteUpload, removeFileJob } from "./remove.ts";

export { getAccessibleUpload, getAccessibleUploadAt } from "./access.ts";
export {
  findChannelFile,
  findUpload,
  findUploadAt,
  findUploadByKey,
  getUpload,
  type UploadRow,
} from "./find.ts";
export { extensionOfType, nameOfType } from "./kinds.ts";
export { createChannelLink, createLink, removeSignature } from "./links.ts";
export {
  commitUpload,
  discardFile,
  fetchFile,
  type ReceivedFile,
  receiveFile,
  storedHeaders,
} from "./receive.ts";
export { removeUpload, withdrawFiles } from "./remove.ts";

export const uploads = implement(contract, {
  tables: ["uploads"],
  operations: {
    async upload_file(request, context) {
      const { world, organization, caller } = context;
      const owner = { world, organization, credential_id: caller.credential.id };
      let received: ReceivedFile | undefined;
      let isCommitted = false;
      try {
        const { input, file } = await request.read(async (incoming) => {
          received = await receiveFile(owner, incoming);
          return received;
        });
        requireOneSource({ file, content_base64: input.content_base64, url: input.url });
        const own = await getAccessibleUploadAt(world.database.queries, caller, input.url, "url");
        if (input.url !== undefined && !own) {
          await context.beginOutward();
        }
        const upload = file ?? (own ? await copyUpload(owner, own, input) : await receiveInput(owner, input));
        received = upload;
        const facts = file ? { sha256: file.sha256, file_name: file.file_name } : null;
        await context.commit(facts, async ({ tx, now }) => {
          const row = await commitUpload(
            { tx, world },
            upload,
            input.generate_cdn && world.addresses.cdn !== undefined,
          );
          isCommitted = true;
          return { data: serializeUpload(world, row, now) };
        });
      } catch (error) {
        // The transaction may have failed after the flag was set.
        isCommitted = false;
        throw error;
      } finally {
        if (received && !isCommitted) {
          await discardFile(world, received);
        }
      }
    },

    async list_uploads({ search, ...paging }, { db, world, organization, caller, now }) {
      const matches = selectUploads(db, organization)
        .where(isAccessible(caller))
        .$if(search !== undefined, (query) => query.where(containsText(search ?? "", "file_name")))
        .orderBy("id", "desc");
      const { rows, meta } = await readPage(matches, paging);
      return { data: rows.map((row) => serializeStoredUpload(world, row, now)), meta };
    },

    async get_upload({ id }, { db, world, caller, now }) {
      return { data: serializeStoredUpload(world, await getAccessibleUpload(db, caller, id, "id"), now) };
    },

    async delete_upload({ id }, context) {
      await deleteUpload(context, id);
      return { data: { deleted: true as const } };
    },
  },
  jobs: [deleteUnfinishedUploadsJob, removeFileJob],
  routes: [fileRoute],
});

/** A file that is not part of a form. */
interface Input {
  readonly content_base64?: string | undefined;
  readonly url?: string | undefined;
  readonly file_name?: string | undefined;
  readonly content_type?: string | undefined;
}

/** @throws Failure `upload_not_found`, and the errors of `receiveFile`. */
async function copyUpload(
  owner: UploadOwner,
  { key, file_name, content_type }: UploadRow,
  input: Input,
): Promise<ReceivedFile> {
  const { file_name: name = file_name, content_type: type = content_type } = input;
  const read = async function* () {
    const body = await owner.world.storage.read(key);
    if (!body) {
      throw failField("url", "upload_not_found");
    }
    yield* body;
  };
  return receiveFile(owner, { name, type, body: read() });
}

async function receiveInput(owner: UploadOwner, input: Input): Promise<ReceivedFile> {
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
  return receiveFile(owner, { name: file_name, type: content_type, body: body() });
}

/**
 * Checked here and not in the schema, because clients do not support alternatives between fields in a schema.
 */
function requireOneSource(sources: Readonly<Record<string, unknown>>): void {
  const count = Object.values(sources).filter((value) => value !== undefined).length;
  if (count !== 1) {
    throw fail("one_source_needed", { count, known: "file, content_base64 and url" });
  }
}

function serializeUpload(world: World, row: Row, now: Date) {
  const { url, expires_at } = createLink(world, row.key, now);
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

function serializeStoredUpload(world: World, row: Row, now: Date) {
  return { ...serializeUpload(world, row, now), created_at: row.created_at };
}

type Row = Awaited<ReturnType<typeof commitUpload>>;

/** Downloads the files that a plan keeps, so that its run sends what they are now. */
import { fail } from "../../../../../tools/errors.ts";
import { commitUpload, discardFile, fetchFile, type ReceivedFile } from "../../../content/uploads/index.ts";
import type { OrganizationChange } from "../../../foundation/kernel/index.ts";
import { readContentOf, replaceEffect, sealContent } from "../store.ts";
import { advancePreparation, inPlanTurn, type PreparingPlan, reportReady, type Turn } from "./turn.ts";

/** For a large file on a slow server. Nobody waits for it. */
const downloadMs = 120_000;

/** Downloads the next file. After the last one, the call is planned again with the files. */
export async function keepFile(turn: Turn): Promise<void> {
  const { world, payload, plan } = turn;
  const { organization_id: organization, credential_id } = plan;
  const { addresses, files } = readContentOf(world, plan);
  const url = addresses.find((address) => !(address in files));
  if (url === undefined) {
    await inPlanTurn(world, payload, (context, current) => planAgain(context, current, turn));
    return;
  }
  const source = { url, timeoutMs: downloadMs, signal: world.stopping };
  const received = await fetchFile({ world, organization, credential_id }, source);
  let isKept = false;
  try {
    isKept = await inPlanTurn(world, payload, (context, current) =>
      storeFile(context, current, { url, received }),
    );
  } finally {
    if (!isKept) {
      await discardFile(world, received);
    }
  }
}

interface DownloadedFile {
  readonly url: string;
  readonly received: ReceivedFile;
}

/** @throws Failure `quota_exceeded`. */
async function storeFile(
  context: OrganizationChange,
  plan: PreparingPlan,
  { url, received }: DownloadedFile,
): Promise<void> {
  const { world } = context;
  const { id, key } = await commitUpload(context, received, false);
  const content = readContentOf(world, plan);
  const files = { ...content.files, [url]: key };
  await advancePreparation(context, plan, {
    content: sealContent(world, { ...content, files }),
    upload_ids: [...plan.upload_ids, id],
  });
}

async function planAgain(context: OrganizationChange, plan: PreparingPlan, { steps }: Turn): Promise<void> {
  const { files, frozen } = readContentOf(context.world, plan);
  const effect = await steps.plan(context, { files, frozen });
  if ((effect.addresses ?? []).length > 0) {
    throw fail("plan_not_prepared", { reason: "it would send other files now" });
  }
  reportReady(context, await replaceEffect(context, plan, effect));
}

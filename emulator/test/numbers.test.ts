/** The WhatsApp emulator's controls of a number, and the webhooks that they send. */
import { expect, test } from "vitest";
import { type Json, phone_number_id, useEmulator } from "../../test/support/whatsapp-emulator.ts";

const current = useEmulator();

test("another messaging limit is of all numbers of the account, and is reported with a higher throughput", async () => {
  const { control, graph, advance, changes } = current();
  const fields = "whatsapp_business_manager_messaging_limit,throughput,quality_rating";
  const read = async (id: string) => (await graph("GET", `${id}?fields=${fields}`)).body;
  const created = await control("POST", "/phone-numbers", { phone_number: "15550783882" });
  const other = created.body.phone_number_id;
  const change = { messaging_limit: "TIER_2K", messages_per_second: 1_000, quality_rating: "YELLOW" };
  await control("POST", `/phone-numbers/${phone_number_id}`, change);
  await control("POST", `/phone-numbers/${phone_number_id}`, change);
  await advance(1_000);
  expect(await read(phone_number_id)).toMatchObject({
    whatsapp_business_manager_messaging_limit: "TIER_2K",
    throughput: { level: "HIGH" },
    quality_rating: "YELLOW",
  });
  expect(await read(other)).toMatchObject({
    whatsapp_business_manager_messaging_limit: "TIER_2K",
    throughput: { level: "STANDARD" },
  });
  const capability = { max_daily_conversations_per_business: "TIER_2K", max_phone_numbers_per_waba: 25 };
  expect(changes("business_capability_update").map(({ value }: Json) => value)).toEqual([capability]);
  expect(changes("phone_number_quality_update").map(({ value }: Json) => value)).toEqual([
    {
      display_phone_number: "15550783881",
      event: "THROUGHPUT_UPGRADE",
      max_daily_conversations_per_business: "TIER_UNLIMITED",
    },
  ]);
});

/** A third party for tests: an operation that calls it, the calls that it got, and how each of them ends. */
import { z } from "zod";
import { implement, outward } from "../../src/platform/foundation/kernel/module.ts";
import { one, operation, yes } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";

interface Order {
  readonly id: string;
}

export const orderContract = {
  create_order: operation({
    method: "POST",
    path: "/v1/test-orders",
    scope: "inbox:write",
    effect: "outward",
    title: "Create order",
    description: "Create an order.",
    input: z.object({ name: z.string() }),
    output: one(z.object({ id: z.string(), by: z.string() })),
    status: 201,
    hints: { openWorld: yes("It calls the third party.") },
  }),
};

/** Each caller has a third party of its own. */
export function createOrders() {
  const orders = {
    /** The names of the orders that were called for. */
    calls: [] as string[],
    /** In millionths of a dollar. */
    price: 5_000_000,
    call: async (name: string): Promise<Order> => ({ id: `order ${name}` }),
    find: async (_name: string): Promise<Order | undefined> => undefined,
    /** Lets calls end at once, and look-ups find nothing. */
    reset() {
      orders.call = async (name) => ({ id: `order ${name}` });
      orders.find = async () => undefined;
    },
    /** Holds each call until it is released. */
    hold() {
      let release = () => {};
      const released = new Promise<void>((settle) => {
        release = settle;
      });
      orders.call = async (name) => {
        await released;
        return { id: `order ${name}` };
      };
      return () => release();
    },
    countCalls: (name: string) => orders.calls.filter((one) => one === name).length,
  };
  const module = implement(orderContract, {
    operations: {
      create_order: outward({
        intent: z.object({ name: z.string() }),
        async begin({ name }: { readonly name: string }) {
          if (name === "") {
            throw fail("inbox_not_found");
          }
          return { name };
        },
        async describe({ name }) {
          return { summary: `Order ${name}`, price: { amount: orders.price, currency: "USD" } };
        },
        async call({ name }) {
          orders.calls.push(name);
          return orders.call(name);
        },
        find: ({ name }) => orders.find(name),
        async record({ id }, _, { actor }) {
          return { data: { id, by: actor.name } };
        },
      }),
    },
  });
  return { orders, module };
}

/** People as the settings read them, and passwords that are made up for them. */
import { type Answer, call, type Input } from "../../service/call.ts";
import { ServiceError } from "../../service/errors.ts";
import { session } from "../../session/session.ts";
import { texts } from "../../texts.ts";

export type Person = Answer<"list_users">["data"][number];
export type Role = Person["role"];

/** From the most to the least privileged. */
export const roleNames: readonly Role[] = ["owner", "admin", "supervisor", "agent"];

const pageSize = 100;

/** @throws ServiceError `user_not_found` */
export async function findPerson(id: string): Promise<Person> {
  for (let page = 1; ; page += 1) {
    const { data, meta } = await call("list_users", { page, per_page: pageSize });
    const person = data.find((one) => one.id === id);
    if (person !== undefined) {
      return person;
    }
    if (page * pageSize >= meta.total) {
      throw new ServiceError(404, "user_not_found", texts.people.notFound);
    }
  }
}

/** Whether the signed-in person may change somebody of this role, or give it. */
export function mayGive(role: Role): boolean {
  return role !== "owner" || session.value?.user.role === "owner";
}

export async function changePerson(change: Input<"update_user">): Promise<Person> {
  return (await call("update_user", change)).data;
}

/** 96 bits, without characters that look alike. */
export function makePassword(): string {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789";
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  const text = [...bytes].map((byte) => letters[byte % letters.length]).join("");
  return text.replace(/(.{5})(?=.)/g, "$1-");
}

/** The operator in a test: creates, suspends and resumes organizations with the operator's key. */
import { operator } from "../../tools/operator.ts";
import { operatorKey, type TestApp } from "./app.ts";

/** Calls with the operator's key. */
export const asOperator = { key: operatorKey } as const;

let count = 0;

/** Creates an organization, each with another owner. */
export async function createOrganizationFor(app: TestApp, name: string) {
  count += 1;
  const owner = { email: `owner.${count}@example.org`, name: "Owner" };
  const { data } = await app.call(operator.create_organization, { name, owner }, asOperator);
  return {
    id: data.organization.id,
    key: data.api_key.secret_key,
    email: data.owner.email,
    password: data.owner.password ?? "",
  };
}

/** The app, with the key and the owner of an organization of its own. */
export async function createTenant(app: TestApp): Promise<TestApp> {
  const { key, email } = await createOrganizationFor(app, "Tenant");
  const signOwner = () => app.signOwner(email);
  return {
    ...app,
    signOwner,
    async call(operation, input, options) {
      const credential = operation.credential === "person" ? await signOwner() : key;
      return app.call(operation, input, { key: credential, ...options });
    },
    fetch: (path, options) => app.fetch(path, { key, ...options }),
  };
}

export async function suspend(app: TestApp, id: string): Promise<void> {
  await app.call(operator.suspend_organization, { id, reason: "Unpaid" }, asOperator);
}

export async function resume(app: TestApp, id: string): Promise<void> {
  await app.call(operator.resume_organization, { id }, asOperator);
}

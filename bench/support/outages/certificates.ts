/** Certificates of a server: one that is valid and one that has expired, of an authority of their own. */
import { execFile } from "node:child_process";
import { chmod, copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { giveToPostgres, reload, type Server } from "./servers.ts";

const execute = promisify(execFile);

/** Makes the server use TLS, with the valid certificate. Needs openssl and faketime. */
export async function createCertificates(server: Server, folder: string) {
  const openssl = (...args: string[]) => execute("openssl", args, { cwd: folder });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await openssl(
    "req",
    "-x509",
    ...newKey,
    "-keyout",
    "ca.key",
    "-out",
    "ca.crt",
    "-subj",
    "/CN=Bench",
    "-days",
    "365",
  );
  await openssl("req", ...newKey, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=Server");
  await writeFile(join(folder, "names"), `subjectAltName=IP:${new URL(server.url).hostname}\n`);
  const issuer = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"];
  const sign = ["x509", "-req", "-in", "server.csr", ...issuer, "-extfile", "names", "-days", "30", "-out"];
  await openssl(...sign, "valid.crt");
  await execute("faketime", ["-60 days", "openssl", ...sign, "expired.crt"], { cwd: folder });

  const use = async (name: string) => {
    await copyFile(join(folder, name), join(server.folder, "server.crt"));
    await giveToPostgres(join(server.folder, "server.crt"));
    await reload(server, { ssl: "on" });
  };
  await copyFile(join(folder, "server.key"), join(server.folder, "server.key"));
  await giveToPostgres(join(server.folder, "server.key"));
  await chmod(join(server.folder, "server.key"), 0o600);
  await use("valid.crt");
  return {
    /** The members of an address that make a client check the certificate. */
    search: `?sslmode=verify-full&sslrootcert=${join(folder, "ca.crt")}`,
    expire: () => use("expired.crt"),
    renew: () => use("valid.crt"),
  };
}

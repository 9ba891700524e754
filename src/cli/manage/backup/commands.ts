/** The commands that back up the service of this machine, check a backup and restore it. */
import { type Commands, meanings } from "../../commands/command.ts";

const common = { "data-dir": meanings.dataDir, json: meanings.json };
const keys = {
  identity: "File with the identity of age, as age-keygen writes it, that opens the backup.",
  "passphrase-file": "File with the passphrase of the backup.",
};

export const backupCommands: Commands = {
  backup: {
    summary:
      "Write the database and the uploaded files to one encrypted file, while the service runs or not.",
    arguments: ["file"],
    options: {
      recipient: "Public key of age, which begins with age1, to which the backup is encrypted.",
      "passphrase-file": "File with a passphrase that encrypts the backup.",
      plain: "Do not encrypt it. Who can read it can read everything, with the generated secret.",
      ...common,
    },
    notes: [
      "The file may be in a bucket, as s3://bucket/key. The backup is the state of one moment. The file must not exist. The exit code is 1 if the content of the database is wrong; then the backup is written nevertheless.",
      "On an embedded database that a service has open, requests wait while its files are copied: after 5 seconds they are answered with 503 and Retry-After.",
    ],
    run: async (options, [file = ""]) => (await import("./backup.ts")).runBackup(options, file),
  },
  "verify-backup": {
    summary: "Read a backup to its end, and check its rows, ledger, sealed values and files.",
    arguments: ["file"],
    options: { ...keys, ...common },
    notes: [
      "It opens no database. Sealed values are opened if TIDINGS_SECRET is the one of the backup, or if the secret was generated. The exit code is 1 if something is wrong.",
    ],
    run: async (options, [file = ""]) => (await import("./backup.ts")).runVerifyBackup(options, file),
  },
  restore: {
    summary: "Restore a backup into a new data folder, or into an empty database on PostgreSQL.",
    arguments: ["file"],
    options: { ...keys, ...common },
    notes: [
      "The engine may be another one than that of the backup. After an error nothing is in the database. Files that were written before it stay in the storage, and the next restore overwrites them.",
      "The restored service is held: it runs no job and answers no request until tidings release.",
    ],
    run: async (options, [file = ""]) => (await import("./backup.ts")).runRestore(options, file),
  },
  release: {
    summary: "Release a restored service, which is held, or list what waited when its backup was made.",
    options: {
      keys: "The API keys of the backup that stay valid: all, none, or ids separated by commas. Without it nothing is changed.",
      erasures:
        "The log of the erasures since the backup, which are repeated, or none. Default: TIDINGS_ERASURE_LOG.",
      ...common,
    },
    notes: [
      "All sessions and sign-in links end. Messages that waited are looked up at their channel and not sent again unless it says that it never received them; webhook deliveries fail, broadcasts pause, and runs of flows end.",
    ],
    run: async (options) => (await import("./backup.ts")).runRelease(options),
  },
};

/**
 * Sealed values: secrets that are stored encrypted with the app's secret, and sealed again when the secret
 * changes.
 */
export { type ResealOptions, resealAll, type SealedColumn } from "./reseal.ts";
export {
  type AppSecrets,
  type SealingSecrets,
  seal,
  sealSecretsOf,
  secretsOf,
  tryUnseal,
  unseal,
} from "./seal.ts";

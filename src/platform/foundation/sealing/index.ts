/**
 * Sealed values: secrets that are stored encrypted with the app's secret, and sealed again when the secret
 * changes. And the signatures that are made with the secrets of webhooks, and the names of fields that hold
 * secrets.
 */
export { nameOfSealed, type ResealOptions, resealAll, type SealedColumn } from "./reseal.ts";
export {
  type AppSecrets,
  type SealingSecrets,
  seal,
  sealSecretsOf,
  secretsOf,
  tryUnseal,
  unseal,
} from "./seal.ts";
export { isSecretName } from "./secret-names.ts";
export { newSigningSecret, signDelivery } from "./sign-webhook.ts";

/** Which fields of an input hold secrets, by their names. Records and plans do not show their values. */

const secretName =
  /secret|password|token|credential|authorization|headers$|pin$|otp|(?:api|access|private)[_-]?key$/i;

/** @param name of a field, or of a header in the input. */
export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

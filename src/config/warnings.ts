/** Warnings about settings that are valid and may not do what was intended. */
export interface SettingWarning {
  readonly message: string;
  /** What to do about it. */
  readonly fix: string;
}

/** Payments by a test key look like other payments to the service, so they are credited like them. */
export function warnAboutTestKey(keyId: string | undefined): readonly SettingWarning[] {
  return keyId?.startsWith("rzp_test_")
    ? [
        {
          message:
            "TIDINGS_RAZORPAY_KEY_ID is a test key: payments move no money, but wallets are credited with real money.",
          fix: "To take payments, set a key that starts with rzp_live_, with its secret.",
        },
      ]
    : [];
}

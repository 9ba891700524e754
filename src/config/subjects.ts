/** The subjects by which help and documentation group the settings. */

/** Each subject with the beginnings of its settings' names. */
const subjects: Readonly<Record<string, readonly string[]>> = {
  "Address and requests": [
    "HOST",
    "PORT",
    "TIDINGS_PUBLIC_URL",
    "TIDINGS_CDN_URL",
    "TIDINGS_TRUSTED_PROXIES",
    "TIDINGS_ALLOWED_",
    "TIDINGS_CORS_ORIGINS",
    "TIDINGS_BODY_LIMIT",
    "TIDINGS_RATE_",
    "TIDINGS_DRAIN_DELAY",
  ],
  "Data and files": [
    "TIDINGS_DATA_DIR",
    "DATABASE_URL",
    "TIDINGS_DATABASE_",
    "TIDINGS_S3_",
    "TIDINGS_ERASURE_LOG",
  ],
  Secrets: ["TIDINGS_SECRET", "TIDINGS_PREVIOUS_SECRET"],
  "First start": ["TIDINGS_OWNER_", "TIDINGS_BOOTSTRAP_KEY"],
  "Commands that use a running service": ["TIDINGS_BASE_URL", "TIDINGS_API_KEY"],
  "Tools for assistants": [
    "TIDINGS_SCOPES",
    "TIDINGS_TOOL",
    "TIDINGS_READ_ONLY",
    "TIDINGS_RESULT_LIMIT",
    "TIDINGS_UPLOAD_ROOT",
  ],
  "Channels and the simulator": ["TIDINGS_WHATSAPP_", "TIDINGS_SIMULATOR"],
  "Access to private networks": ["TIDINGS_WEB_ALLOW", "TIDINGS_ALLOW_LOCAL_"],
  "Money and prices": [
    "TIDINGS_WALLET",
    "TIDINGS_CREDIT_LIMIT",
    "TIDINGS_RAZORPAY_",
    "TIDINGS_GEOIP_FILE",
    "TIDINGS_PRICING_COUNTRY",
  ],
  Models: ["TIDINGS_LLM_", "TIDINGS_EMBEDDINGS_", "TIDINGS_TRANSCRIPTION_"],
  "Quotas of an organization": ["TIDINGS_QUOTA_"],
  Retention: ["TIDINGS_RETENTION_"],
  "Operator and telemetry": [
    "TIDINGS_OPERATOR_KEY",
    "TIDINGS_SANDBOX_CLOCK",
    "TIDINGS_LOG_",
    "TIDINGS_METRICS_TOKEN",
    "OTEL_",
  ],
};

/** The names of the subjects, in their order. */
export const settingSubjects: readonly string[] = Object.keys(subjects);

/** @throws if the setting has no subject. */
export function subjectOf(name: string): string {
  const subject = settingSubjects.find((each) => subjects[each]?.some((start) => name.startsWith(start)));
  if (subject === undefined) {
    throw new Error(`The setting ${name} has no subject: add it to src/config/subjects.ts.`);
  }
  return subject;
}

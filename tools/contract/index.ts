/** The building blocks of the contract: operations, tools, fields, scopes and failures. */

export {
  coerceFields,
  describeUnknownFields,
  nearestName,
  readArguments,
  requireKnownArguments,
  requireKnownMembers,
} from "./arguments/index.ts";
export {
  accessErrors,
  ErrorBody,
  ErrorDetail,
  type ErrorEntry,
  errorEntry,
  errorTypes,
  requestErrors,
  serviceErrors,
} from "./errors/index.ts";
export {
  Failure,
  type FailureDetail,
  failInput,
  fieldFailure,
  missingScope,
  parseFields,
} from "./failure.ts";
export {
  type ActorType,
  actorTypes,
  all,
  chosenPassword,
  country,
  DeletionResult,
  describedForTools,
  fileAddress,
  id,
  inboxId,
  inputTimestamp,
  jsonObject,
  limitedObject,
  maxMetadata,
  metadata,
  newer,
  normalizeTag,
  one,
  openObject,
  page,
  paged,
  pageSize,
  paging,
  passwordRule,
  phone,
  RecordedActor,
  recipient,
  tag,
  tagLimits,
  tags,
  timestamp,
  userId,
} from "./fields.ts";
export {
  findMalformedCredential,
  readCredential,
  readRetryAfterMs,
  readToolHeader,
  toolHeader,
} from "./headers.ts";
export { type Hint, type Hints, hintNames, no, yes } from "./hints.ts";
export { formatPath, inputMessages } from "./issues.ts";
export { parseJson } from "./json.ts";
export {
  type ApiSchema,
  type JsonSchema,
  nameKeyword,
  toJsonSchema,
  toNamedJsonSchema,
  unwrap,
} from "./json-schema/index.ts";
export { closeTexts, removeMentions } from "./mentions.ts";
export {
  type Credential,
  documentedPaths,
  type Effect,
  type InputOf,
  type Operation,
  type OperationImage,
  type OtherPath,
  type OutputOf,
  operation,
  type ProgressFields,
  pathFields,
  type ToolMapping,
  type ToolTier,
  type VariantOf,
} from "./operation.ts";
export {
  allScopes,
  describeRule,
  isAdministrative,
  permits,
  readScope,
  type Scope,
  type ScopeRule,
  scopes,
  scopesOf,
  toDottedScope,
  writeScopes,
} from "./scopes.ts";
export {
  describeTools,
  firstSentence,
  groupHiddenTools,
  type HiddenTools,
  type Tool,
  type ToolMode,
  type ToolPlace,
  toolMappingsOf,
  toolModes,
  toolNames,
  withLocalField,
} from "./tool.ts";
export { openPaths, untrusted, untrustedPaths } from "./untrusted.ts";

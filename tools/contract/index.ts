/** The contract's vocabulary: what an operation, a tool, a field, a scope and a failure are. */

export { accessErrors, requestErrors, serviceErrors } from "./common-errors.ts";
export { readCredential } from "./credential.ts";
export { ErrorBody, ErrorDetail, type ErrorEntry, errorEntry, errorTypes } from "./errors.ts";
export { Failure, type FailureDetail, failInput, fieldFailure, missingScope } from "./failure.ts";
export {
  Deleted,
  id,
  inboxId,
  jsonObject,
  maxMetadata,
  metadata,
  moment,
  page,
  pageSize,
  phone,
  recipient,
  timestamp,
  untrusted,
  userId,
} from "./fields.ts";
export { parseJson } from "./json.ts";
export {
  all,
  type Credential,
  type Effect,
  type InputOf,
  type Operation,
  type OutputOf,
  one,
  operation,
  paged,
  paging,
  pathFields,
  type ToolForm,
} from "./operation.ts";
export { readRetryAfterMs } from "./retry-after.ts";
export {
  allScopes,
  describeRule,
  dotted,
  isAdministrative,
  permits,
  readScope,
  type Scope,
  type ScopeRule,
  scopes,
  scopesOf,
} from "./scopes.ts";
export {
  describeTools,
  formsOf,
  type JsonSchema,
  readArguments,
  readFields,
  type Tool,
  toJsonSchema,
  toolNames,
  untrustedPaths,
} from "./tool.ts";
export { type ToolMode, toolModes } from "./tool-mode.ts";

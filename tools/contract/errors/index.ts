/** Errors: the form of an entry and of a response, and the errors that any operation can have. */
export { accessErrors, requestErrors, serviceErrors } from "./common.ts";
export { ErrorBody, ErrorDetail, type ErrorEntry, errorEntry, errorTypes } from "./entry.ts";

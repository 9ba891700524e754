/** The errors of templates. */
import { type ErrorEntry, errorEntry } from "../contract/index.ts";

export const templateErrors = {
  template_not_found: errorEntry(
    "not_found",
    404,
    "There is no template with this id.",
    "Find the id with list_templates (GET /v1/templates).",
  ),
  template_exists: errorEntry(
    "conflict",
    409,
    "The inbox has a template with this name in this language already.",
    "Change the template in existing_id with update_template (PUT /v1/templates/{id}), or use another name.",
  ),
  template_not_draft: errorEntry(
    "conflict",
    409,
    "Only a draft can be submitted; this template is {current_state}.",
    "Wait for the review of a pending one. To change an approved or rejected one, use update_template (PUT /v1/templates/{id}) first.",
  ),
  template_not_editable: errorEntry(
    "conflict",
    409,
    "A template that is {current_state} can't be changed.",
    "Wait until it is approved or rejected, or create a template with another name.",
  ),
  template_read_only: errorEntry(
    "business_rule",
    422,
    "The template has {parts}, which can't be changed here.",
    "Change it where it was created, such as WhatsApp Manager, then call sync_templates (POST /v1/templates/sync).",
  ),
  code_not_sendable: errorEntry(
    "business_rule",
    422,
    "A code can't be sent by {sender}, which would store it.",
    "Send the authentication template with send_template_message (POST /v1/messages with type template), with a key whose messages need no plan or approval.",
  ),
  template_name_fixed: errorEntry(
    "conflict",
    409,
    "The template was submitted: the review authority has it under its name and language, which can't change.",
    "Create a template with the other name or language (POST /v1/templates).",
  ),
  template_language_unknown: errorEntry(
    "invalid_request",
    400,
    "The channel of the inbox reviews no templates in {language}.",
    "Send one of its language codes, such as {similar}.",
  ),
  templates_not_supported: errorEntry(
    "business_rule",
    422,
    "The channel of this inbox has no templates.",
    "Send another type of message, or use an inbox of another channel (GET /v1/inboxes).",
  ),
  template_in_use: errorEntry(
    "conflict",
    409,
    "{uses} waiting to be sent with this template.",
    "Try again when they have been sent.",
  ),
  template_variables_mismatch: errorEntry(
    "invalid_request",
    400,
    "The {component} has {expected} variables, and variables names {count}.",
    "Name every variable of this component in its order, or none of them.",
  ),
  template_variable_unknown: errorEntry(
    "invalid_request",
    400,
    "The {component} has no variable {name}.",
    "Name the variables as the text does, or leave out variables.",
  ),
  template_category_fixed: errorEntry(
    "business_rule",
    422,
    "The category of an approved template can't be changed.",
    "Keep the category {category}, or create a template with another name.",
  ),
  template_not_submittable: errorEntry(
    "business_rule",
    422,
    "The review authority would reject this template: {reason}",
    "Correct the fields in details with update_template (PUT /v1/templates/{id}), then submit it again.",
  ),
  template_edit_limit: errorEntry(
    "business_rule",
    422,
    "An approved template can be changed once in 24 hours and 10 times in 30 days.",
    "Submit it again after allowed_at.",
  ),
  template_refused: errorEntry(
    "business_rule",
    422,
    "The review authority does not accept this: {reason}",
    "Correct the template with update_template (PUT /v1/templates/{id}), or create one with another name.",
  ),
  authority_unavailable: errorEntry(
    "channel",
    503,
    "The review authority can't be reached or is busy.",
    "Try again in a minute. Nothing was submitted or deleted.",
  ),
} as const satisfies Record<string, ErrorEntry>;

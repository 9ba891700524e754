/**
 * The rules of the review authority that a template can be checked against before it is submitted.
 *
 * A draft may break them: each problem is a warning of the template. A submission fails for all but advice,
 * because the authority would reject it, or needs a person to see why.
 */
import {
  mediaHeaderTypes,
  type TemplateCategory,
  type TemplateData,
  type TemplateWarning,
  type Variable,
} from "../../../../tools/templates/index.ts";
import { isSafeUrl, isValidUrl } from "./addresses.ts";
import { isMixed, variableTextsOf, withoutPlaceholders } from "./placeholders.ts";

interface Draft {
  readonly category: TemplateCategory;
  readonly template_data: TemplateData;
  readonly variables: readonly Variable[];
}

interface Problem {
  readonly field: string;
  readonly message: string;
}

interface Rule {
  readonly code: string;
  /** The authority may still approve a template with this problem. */
  readonly isAdvice?: true;
  check(draft: Draft): readonly Problem[];
}

const limits = {
  header: 60,
  footer: 60,
  button: 25,
  wellShownButton: 20,
  code: 20,
  wordsPerVariable: 3,
} as const;

/** How long delivery may be tried, in seconds. */
const ttlRanges: Readonly<Record<TemplateCategory, readonly [from: number, to: number]>> = {
  authentication: [30, 900],
  utility: [30, 43_200],
  marketing: [43_200, 2_592_000],
};

const problem = (isProblem: boolean, field: string, message: string): readonly Problem[] =>
  isProblem ? [{ field, message }] : [];

const rules: readonly Rule[] = [
  {
    code: "variable_gap",
    check: ({ template_data }) =>
      variableTextsOf(template_data).flatMap(({ field, numbers }) =>
        problem(
          numbers.some((number, index) => number !== index + 1),
          field,
          `Number the variables from {{1}} without a gap; it has ${listOf(numbers)}.`,
        ),
      ),
  },
  {
    code: "variable_malformed",
    check: ({ template_data }) =>
      textsOf(template_data).flatMap(({ field, text }) =>
        problem(
          /\{\{|\}\}/.test(withoutPlaceholders(text)),
          field,
          "Write a variable as {{1}} or {{first_name}}: a number, or a name of small letters, digits and _.",
        ),
      ),
  },
  {
    code: "variables_mixed",
    check: ({ template_data: { header, body } }) =>
      problem(
        isMixed(`${header?.text ?? ""} ${body}`),
        "template_data.body",
        "Write all variables of header and body as numbers, or all as names.",
      ),
  },
  {
    // A draft of an earlier version, which did not know named variables, has none for its names.
    code: "variables_unknown",
    check: ({ template_data, variables }) => {
      const expected = variableTextsOf(template_data).flatMap(({ numbers }) => numbers).length;
      return problem(
        variables.length !== expected,
        "variables",
        "Send template_data again, so that its variables are read.",
      );
    },
  },
  {
    code: "variable_at_edge",
    check: ({ template_data: { body } }) =>
      problem(
        /^\s*\{\{\w+\}\}|\{\{\w+\}\}\s*$/.test(body),
        "template_data.body",
        "Put text before the first and after the last variable.",
      ),
  },
  {
    code: "variables_adjacent",
    check: ({ template_data }) =>
      variableTextsOf(template_data).flatMap(({ field, text }) =>
        problem(/\}\}\s*\{\{/.test(text), field, "Put text between two variables."),
      ),
  },
  {
    code: "variable_not_allowed",
    check: ({ template_data: { footer = "", buttons = [] } }) => [
      ...problem(hasVariable(footer), "template_data.footer", "A footer can't have variables."),
      ...buttons.flatMap(({ text }, index) =>
        problem(
          hasVariable(text),
          `template_data.buttons[${index}].text`,
          "A button's text can't have variables.",
        ),
      ),
    ],
  },
  {
    code: "too_many_variables",
    check: ({ template_data }) =>
      variableTextsOf(template_data).flatMap(({ component, field, numbers, implied }) =>
        problem(
          component !== "BODY" && !implied && numbers.length > 1,
          field,
          `This text can have one variable; it has ${numbers.length}.`,
        ),
      ),
  },
  {
    code: "text_too_long",
    check: ({ template_data: { header, footer, buttons = [] } }) => [
      ...tooLong("template_data.header.text", header?.text, limits.header),
      ...tooLong("template_data.footer", footer, limits.footer),
      ...buttons.flatMap(({ text }, index) =>
        tooLong(`template_data.buttons[${index}].text`, text, limits.button),
      ),
    ],
  },
  {
    // Only templates that were created at the authority can have this problem.
    code: "sample_missing",
    check: ({ template_data: { header } }) =>
      problem(
        mediaHeaderTypes.some((type) => type === header?.type) && header?.media_url === undefined,
        "template_data.header.media_url",
        "Send a sample of the header: a public address, or an upload's storage_url.",
      ),
  },
  {
    code: "header_formatted",
    check: ({ template_data: { header } }) =>
      problem(
        /[\n*_~`]|\p{Extended_Pictographic}/u.test(withoutPlaceholders(header?.text ?? "")),
        "template_data.header.text",
        "A header can't have line breaks, emoji or the characters * _ ~ `.",
      ),
  },
  {
    code: "url_invalid",
    check: ({ template_data: { buttons = [] } }) =>
      buttons.flatMap(({ type, url = "" }, index) =>
        problem(
          type === "url" && !isValidUrl(url),
          `template_data.buttons[${index}].url`,
          "Send a complete address, for example https://example.com/orders/{{1}}; a variable may only be at its end.",
        ),
      ),
  },
  {
    code: "url_unsafe",
    check: ({ template_data: { buttons = [] } }) =>
      buttons.flatMap(({ type, url = "" }, index) =>
        problem(
          type === "url" && isValidUrl(url) && !isSafeUrl(url),
          `template_data.buttons[${index}].url`,
          "Send an https address with a public host name, no user, and no spaces or control characters.",
        ),
      ),
  },
  {
    code: "phone_number_invalid",
    check: ({ template_data: { buttons = [] } }) =>
      buttons.flatMap(({ type, phone_number = "" }, index) =>
        problem(
          type === "phone_number" && !/^\+[1-9]\d{6,14}$/.test(phone_number.replace(/[\s()-]/g, "")),
          `template_data.buttons[${index}].phone_number`,
          "Send a number with its country code, for example +14155550123.",
        ),
      ),
  },
  {
    code: "too_many_buttons",
    check: ({ template_data: { buttons = [] } }) => {
      const count = (wanted: string) => buttons.filter(({ type }) => type === wanted).length;
      return [
        ...problem(count("url") > 2, "template_data.buttons", "At most 2 buttons can be of type url."),
        ...problem(
          count("phone_number") > 1,
          "template_data.buttons",
          "At most 1 button can be of type phone_number.",
        ),
        ...problem(
          count("copy_code") > 1,
          "template_data.buttons",
          "At most 1 button can be of type copy_code.",
        ),
      ];
    },
  },
  {
    code: "buttons_mixed",
    check: ({ template_data: { buttons = [] } }) => {
      const kinds = buttons.map(({ type }) => type === "quick_reply");
      const changes = kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length;
      return problem(changes > 1, "template_data.buttons", "Put the quick replies next to each other.");
    },
  },
  {
    code: "buttons_equal",
    check: ({ template_data: { buttons = [] } }) => {
      const texts = buttons.map(({ text }) => text.trim().toLowerCase());
      return problem(
        new Set(texts).size < texts.length,
        "template_data.buttons",
        "Give each button a text of its own.",
      );
    },
  },
  {
    code: "ttl_out_of_range",
    check: ({ category, template_data: { message_send_ttl_seconds: seconds } }) => {
      const [from, to] = ttlRanges[category];
      return problem(
        seconds !== undefined && (seconds < from || seconds > to),
        "template_data.message_send_ttl_seconds",
        `Of the category ${category} it is from ${from} to ${to} seconds.`,
      );
    },
  },
  {
    code: "button_text_cut",
    isAdvice: true,
    check: ({ template_data: { buttons = [] } }) =>
      buttons.flatMap(({ text }, index) =>
        problem(
          text.length > limits.wellShownButton && text.length <= limits.button,
          `template_data.buttons[${index}].text`,
          `Some phones cut a button's text after ${limits.wellShownButton} characters; it has ${text.length}.`,
        ),
      ),
  },
  {
    code: "little_text",
    isAdvice: true,
    check: ({ template_data: { body } }) => {
      const [place] = variableTextsOf({ body });
      const count = place?.numbers.length ?? 0;
      const words = withoutPlaceholders(body)
        .split(/[^\p{L}\p{N}]+/u)
        .filter(Boolean).length;
      return problem(
        words < count * limits.wordsPerVariable,
        "template_data.body",
        `The authority rejects a body with many variables and little text; write at least ${count * limits.wordsPerVariable} words for ${count} of them.`,
      );
    },
  },
  {
    code: "code_too_long",
    check: ({ template_data: { buttons = [] }, variables }) =>
      variables.flatMap(({ button_index = -1, example }, index) =>
        buttons[button_index]?.type === "copy_code"
          ? tooLong(`variables[${index}].example`, example, limits.code)
          : [],
      ),
  },
  {
    code: "example_missing",
    isAdvice: true,
    check: ({ template_data: { header }, variables }) =>
      variables.flatMap(({ name, component, example }, index) =>
        problem(
          // Reviewers see no place.
          !(component === "HEADER" && header?.type === "location") &&
            (example === undefined || example === name),
          `variables[${index}].example`,
          `Send an example of ${name}, such as a real value: reviewers see its name otherwise.`,
        ),
      ),
  },
];

export interface LintResult extends TemplateWarning {
  readonly isAdvice: boolean;
}

/** All problems of a draft, in the order of the rules. */
export function lintTemplate(draft: Draft): readonly LintResult[] {
  return rules.flatMap(({ code, isAdvice = false, check }) =>
    check(draft).map(({ field, message }) => ({ code, field, message, isAdvice })),
  );
}

function textsOf({
  header,
  body,
  footer = "",
  buttons = [],
}: TemplateData): readonly { field: string; text: string }[] {
  return [
    { field: "template_data.header.text", text: header?.text ?? "" },
    { field: "template_data.body", text: body },
    { field: "template_data.footer", text: footer },
    ...buttons.flatMap(({ text, url = "" }, index) => [
      { field: `template_data.buttons[${index}].text`, text },
      { field: `template_data.buttons[${index}].url`, text: url },
    ]),
  ];
}

function tooLong(field: string, text: string | undefined, limit: number): readonly Problem[] {
  const length = text?.length ?? 0;
  return problem(length > limit, field, `At most ${limit} characters; it has ${length}.`);
}

function hasVariable(text: string): boolean {
  return withoutPlaceholders(text) !== text;
}

function listOf(numbers: readonly number[]): string {
  return numbers.map((number) => `{{${number}}}`).join(", ");
}

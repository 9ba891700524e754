/** Makes every statement whose rows are declared compare them with what the database returns. */
import { keepResultFields } from "../../src/database/pool/result-fields.ts";

keepResultFields();

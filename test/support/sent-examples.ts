/** Contents of messages in Meta's examples, in the form of our API. */
import type { InputOf } from "../../tools/contract/index.ts";
import type { messages } from "../../tools/messages/index.ts";

export type ExampleContent = Omit<InputOf<typeof messages.send_message>, "to" | "inbox_id">;

export const location: ExampleContent = {
  type: "location",
  location: {
    latitude: 37.758056,
    longitude: -122.425332,
    name: "META HQ",
    address: "1 Hacker Way, Menlo Park, CA 94025",
  },
};

const place = { city: "Menlo Park", country: "United States", country_code: "us", state: "CA" };
export const contacts: ExampleContent = {
  type: "contacts",
  contacts: [
    {
      name: "John Smith",
      first_name: "John",
      middle_name: "D.",
      last_name: "Smith",
      prefix: "Dr",
      suffix: "Jr",
      organization: "WhatsApp",
      department: "Design",
      job_title: "Manager",
      birthday: "2012-08-18",
      phones: [
        { phone: "+1 (940) 555-1234", type: "HOME" },
        { phone: "+1 (650) 555-1234", type: "WORK", wa_id: "16505551234" },
      ],
      emails: [
        { email: "test@fb.com", type: "WORK" },
        { email: "test@whatsapp.com", type: "HOME" },
      ],
      urls: [
        { url: "https://www.facebook.com", type: "WORK" },
        { url: "https://www.whatsapp.com", type: "HOME" },
      ],
      addresses: [
        { ...place, street: "1 Hacker Way", zip: "94025", type: "HOME" },
        { ...place, street: "200 Jefferson Dr", zip: "94025", type: "WORK" },
      ],
    },
  ],
};

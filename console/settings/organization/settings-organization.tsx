/** The section of the organization: its name, place and business hours. */
import { type Signal, useSignal } from "@preact/signals";
import { texts } from "../../texts.ts";
import { Loaded } from "../loaded.tsx";
import { useSaveParts } from "../save-parts.ts";
import { HoursForm } from "./hours-form.tsx";
import { type Organization, readOrganization, writeOrganization } from "./organization.ts";
import { OrganizationForm } from "./organization-form.tsx";

const { organization: words } = texts.settings;

export function SettingsOrganization() {
  return (
    <div class="stack">
      <h2>{words.title}</h2>
      <Loaded read={readOrganization}>
        {(organization, stored) => <Shown organization={organization} stored={stored} />}
      </Loaded>
    </div>
  );
}

interface ShownProps {
  readonly organization: Organization;
  readonly stored: Signal<Organization | null>;
}

function Shown({ organization, stored }: ShownProps) {
  const save = useSaveParts({
    shown: organization,
    read: readOrganization,
    write: writeOrganization,
    onRead: (next) => (stored.value = next),
  });
  const zone = useSignal(organization.time_zone);
  return (
    <>
      <OrganizationForm organization={organization} save={save} zone={zone} />
      <HoursForm organization={organization} save={save} zone={zone} />
    </>
  );
}

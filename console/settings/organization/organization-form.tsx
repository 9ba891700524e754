/** The organization's name, time zone and country. Who may not change them reads them. */
import { type Signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Field, Form, FormEnd, TextField, useForm } from "../../controls/form.tsx";
import { holdsScope, renewSession } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import type { Organization, SaveOrganization } from "./organization.ts";
import { listCountries, listTimeZones } from "./places.ts";

const { organization: words } = texts.settings;

interface Props {
  readonly organization: Organization;
  readonly save: SaveOrganization;
  /** The chosen time zone, which the business hours are in. */
  readonly zone: Signal<string>;
}

export function OrganizationForm({ organization, save, zone: timeZone }: Props) {
  const form = useForm();
  const mayChange = holdsScope("tokens:create");
  const name = useSignal(organization.name);
  const country = useSignal(organization.default_country ?? "");
  const zones = useMemo(() => listTimeZones(organization.time_zone), []);
  const countries = useMemo(() => listCountries(), []);

  const submit = async () => {
    await save({
      name: name.value,
      time_zone: timeZone.value,
      default_country: country.value || null,
    });
    // The bar at the top shows the name.
    await renewSession();
  };
  return (
    <Form form={form} onSubmit={() => void form.run(submit)}>
      {!mayChange && <p class="notice">{words.readOnly}</p>}
      <TextField
        form={form}
        name="name"
        label={words.name}
        disabled={!mayChange}
        value={name.value}
        onValue={(next) => (name.value = next)}
      />
      <Field form={form} name="time_zone" label={words.timeZone} hint={words.timeZoneHint}>
        {(attributes) => (
          <select
            {...attributes}
            disabled={!mayChange}
            value={timeZone.value}
            onChange={({ currentTarget }) => (timeZone.value = currentTarget.value)}
          >
            {zones.map((zone) => (
              <option key={zone}>{zone}</option>
            ))}
          </select>
        )}
      </Field>
      <Field form={form} name="default_country" label={words.country} hint={words.countryHint}>
        {(attributes) => (
          <select
            {...attributes}
            disabled={!mayChange}
            value={country.value}
            onChange={({ currentTarget }) => (country.value = currentTarget.value)}
          >
            <option value="">{words.noCountry}</option>
            {countries.map(({ code, name: label }) => (
              <option key={code} value={code}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {mayChange && <FormEnd form={form} label={texts.form.save} />}
    </Form>
  );
}

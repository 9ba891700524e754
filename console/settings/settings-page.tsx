/** The settings: the navigation of the sections, and the one that is open. */
import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { NotLoaded } from "../controls/not-loaded.tsx";
import { texts } from "../texts.ts";
import type { SectionProps } from "./section-props.ts";
import { readableSections } from "./sections.ts";
import "./settings.css";

export function SettingsPage() {
  const { params } = useRoute();
  const { route } = useLocation();
  const sections = readableSections();
  const open = sections.find(({ path }) => path === params.section);
  const [first] = sections;
  useEffect(() => {
    document.title = texts.pageTitle(open?.title ?? texts.settings.title);
  }, [open]);
  useEffect(() => {
    if (params.section === undefined && first !== undefined) {
      route(`/console/settings/${first.path}`, true);
    }
  }, [params.section]);
  return (
    <main class="settings">
      <nav class="settings-nav" aria-label={texts.settings.title}>
        <h1>{texts.settings.title}</h1>
        <ul>
          {sections.map(({ path, title }) => (
            <li key={path}>
              <a href={`/console/settings/${path}`} aria-current={path === open?.path ? "page" : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="settings-body">
        {open === undefined ? (
          params.section !== undefined && <p>{texts.settings.noSection}</p>
        ) : (
          <Section key={open.path} load={open.load} id={params.id} />
        )}
      </div>
    </main>
  );
}

interface Props extends SectionProps {
  readonly load: () => Promise<ComponentType<SectionProps>>;
}

function Section({ load, id }: Props) {
  const Loaded = useSignal<{ readonly component: ComponentType<SectionProps> } | null>(null);
  useEffect(() => {
    void load()
      .catch(() => NotLoaded)
      .then((component) => (Loaded.value = { component }));
  }, []);
  if (Loaded.value === null) {
    return <p>{texts.loading}</p>;
  }
  const { component: Component } = Loaded.value;
  return <Component id={id} />;
}

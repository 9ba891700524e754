/** Icons, drawn as lines on a grid of 24. An icon has no text of its own: its button has a label. */
const paths = {
  archive: "M4 7h16v12H4zM3 4h18v3H3zM10 11h4",
  attach: "m20 12-8 8a5 5 0 0 1-7-7l9-9a3 3 0 0 1 5 5l-9 9a1 1 0 0 1-2-2l8-8",
  back: "M15 5l-7 7 7 7",
  check: "m5 12 5 5 9-10",
  checks: "m2 12 5 5 9-10M11 16l1 1 9-10",
  clock: "M12 7v5l3 2M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18",
  close: "M6 6l12 12M18 6 6 18",
  file: "M6 3h8l4 4v14H6zM14 3v5h4",
  filter: "M4 6h16M7 12h10M10 18h4",
  info: "M12 11v5M12 8h.01M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  note: "M5 4h14v11l-5 5H5zM14 20v-5h5",
  plus: "M12 5v14M5 12h14",
  reopen: "M4 4v5h5M4.5 9a8 8 0 1 1-.5 4",
  reply: "M9 7l-5 5 5 5M4 12h9a7 7 0 0 1 7 7",
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14M16 16l5 5",
  send: "M4 12l16-8-6 16-3-7z",
  star: "M12 3l2.8 5.7 6.2.9-4.5 4.4 1 6.2-5.5-2.9-5.5 2.9 1-6.2L3 9.6l6.2-.9z",
  template: "M4 5h16v14H4zM4 10h16M10 10v9",
  user: "M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8M4 21c1-5 5-6 8-6s7 1 8 6",
  warning: "M12 4 2 20h20zM12 10v4M12 17h.01",
} as const;

type IconName = keyof typeof paths;

export function Icon({ name, size = 20 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}

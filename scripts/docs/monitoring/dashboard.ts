/** The dashboard for Grafana 9 or newer, as JSON to import. */
import { type Panel, panelRows } from "./panels.ts";

const width = 24; // Grafana's grid
const perRow = 3;
const height = 8;
const figuresPerRow = 6;
const figureHeight = 4;
const datasource = { type: "prometheus", uid: "$datasource" };

interface Position {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export function dashboardFile(): string {
  const dashboard = {
    uid: "tidings",
    title: "Tidings",
    tags: ["tidings"],
    schemaVersion: 38,
    version: 1,
    editable: true,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    timezone: "browser",
    templating: { list: variables },
    panels: placePanels(),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

const variables = [
  { name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus" },
  {
    name: "instance",
    label: "Process",
    type: "query",
    datasource,
    query: { query: "label_values(tidings_build_info, instance)", refId: "instance" },
    refresh: 2, // when the time range changes
    multi: true,
    includeAll: true,
    allValue: ".*",
    current: { selected: true, text: ["All"], value: ["$__all"] },
  },
];

function placePanels(): readonly object[] {
  let y = 0;
  let id = 0;
  const nextId = () => {
    id += 1;
    return id;
  };
  return panelRows.flatMap(({ title, panels }) => {
    const isOfFigures = panels.every(({ isFigure }) => isFigure);
    const [columns, h] = isOfFigures ? [figuresPerRow, figureHeight] : [perRow, height];
    const w = width / columns;
    const row = {
      id: nextId(),
      type: "row",
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: width, h: 1 },
    };
    y += 1;
    const placed = panels.map((panel, index) => {
      const position = { x: (index % columns) * w, y: y + Math.floor(index / columns) * h, w, h };
      return renderPanel(nextId(), panel, position);
    });
    y += Math.ceil(panels.length / columns) * h;
    return [row, ...placed];
  });
}

function renderPanel(id: number, panel: Panel, gridPos: Position) {
  const { title, description, queries, unit, isFigure, isSigned } = panel;
  return {
    id,
    type: isFigure ? "stat" : "timeseries",
    title,
    ...(description === undefined ? {} : { description }),
    datasource,
    gridPos,
    fieldConfig: {
      defaults: {
        unit: unit ?? "short",
        ...(isSigned ? {} : { min: 0 }),
        ...(isFigure ? {} : { custom: { fillOpacity: 10 } }),
      },
      overrides: [],
    },
    options: isFigure
      ? {
          reduceOptions: { calcs: ["lastNotNull"], fields: "", values: false },
          colorMode: "none",
          graphMode: "none",
          textMode: "auto",
        }
      : {
          legend: { displayMode: "list", placement: "bottom", showLegend: true },
          tooltip: { mode: "multi", sort: "desc" },
        },
    targets: Object.entries(queries).map(([legend, expr], index) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + index),
      datasource,
      expr,
      legendFormat: legend === "" ? title : legend,
      range: !isFigure,
      instant: Boolean(isFigure),
    })),
  };
}

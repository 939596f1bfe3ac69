// The charts of an experiment's page: an explorer of results, a player of one run, and its budget.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const svg = (tag, attributes, parent) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return parent.appendChild(node);
};
const fill = (select, entries, chosen) => {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value, false, String(value) === String(chosen))));
};
const shown = (value) => (value === null ? "–" : Math.abs(value) < 0.01 ? value.toExponential(2) : value.toPrecision(3));
const theme = () => ({
  background: null, font: "system-ui, sans-serif",
  axis: { labelColor: colour("--ink"), titleColor: colour("--ink"), gridColor: colour("--line"), domainColor: colour("--line"), tickColor: colour("--line"), labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" },
  view: { stroke: null },
});
const ink = (look) => (look.floor ? colour("--quiet") : look.colour);
const draw = (id, spec) => window.vegaEmbed(`#${id}`, { $schema: "https://vega.github.io/schema/vega-lite/v6.json", config: theme(), ...spec }, { actions: false, renderer: "svg", tooltip: { theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light" } });

// ---- explorer --------------------------------------------------------------------------------
const names = Object.keys(data.mechanisms);
const rows = data.results.map(([stream, mechanism, epsilon, window, release, measure, mean, low, high, repetitions]) =>
  ({ stream: data.order[stream], mechanism: names[mechanism], epsilon, window, release: data.releases[release], measure, mean, low, high, repetitions }));
const hidden = new Set();

function axes() {
  const axis = $("axis").value, other = axis === "epsilon" ? "window" : "epsilon";
  const values = [...new Set(rows.filter((row) => row.stream === $("stream").value && row[other] !== null).map((row) => row[other]))].sort((a, b) => a - b);
  const chosen = values.includes(data.focus[other]) ? data.focus[other] : values[0];
  fill($("other"), values.map((value) => [value, `${other === "epsilon" ? "ε" : "w"} = ${value}`]), chosen);
  $("other-name").textContent = other === "epsilon" ? "privacy budget" : "window";
}

function explore() {
  const axis = $("axis").value, other = axis === "epsilon" ? "window" : "epsilon";
  const measure = Number($("measure").value), kind = data.measures[measure];
  const here = rows.filter((row) => row.stream === $("stream").value && row.measure === measure && row.release === $("release").value && row.mean !== null);
  const xs = [...new Set(here.filter((row) => row[axis] !== null).map((row) => row[axis]))].sort((a, b) => a - b);
  const values = here.filter((row) => row[other] === null || row[other] === Number($("other").value))
    .filter((row) => !hidden.has(row.mechanism))
    .flatMap((row) => (row[axis] === null ? xs : [row[axis]]).map((x) => ({ ...row, x, label: data.mechanisms[row.mechanism].label, floor: data.mechanisms[row.mechanism].floor })))
    .map((row) => ({ ...row, from: row.low ?? row.mean, low: row.low === null ? row.mean : kind.log ? Math.max(row.low, row.mean / 100) : row.low, high: row.high ?? row.mean }));
  const labels = names.map((name) => data.mechanisms[name].label), looks = names.map((name) => data.mechanisms[name]);
  const scale = (key) => ({ domain: labels, range: looks.map((look) => (key === "colour" ? ink(look) : look[key])) });
  const y = { field: "mean", type: "quantitative", title: kind.title, axis: { tickCount: 6, gridOpacity: 0.6 }, scale: kind.log ? { type: "log", nice: false, padding: 8 } : { zero: false } };
  const title = axis === "epsilon" ? "privacy budget ε" : "window w (timestamps)";
  const tooltip = [
    { field: "label", title: "mechanism" }, { field: "x", title: axis === "epsilon" ? "ε" : "w" }, { field: "mean", title: "mean", format: ".3g" },
    { field: "from", title: "95 % from", format: ".3g" }, { field: "high", title: "to", format: ".3g" }, { field: "repetitions", title: "repetitions" },
  ];
  const description = `${kind.title} against ${title} on ${data.streams[$("stream").value].title}, released ${$("release").value}, ${$("other").selectedOptions[0].text}; the values are in the table below`;
  draw("explorer", {
    description, width: "container", height: 330, data: { values },
    encoding: { x: { field: "x", type: "quantitative", title, scale: { zero: false }, axis: { values: xs } }, color: { field: "label", type: "nominal", scale: scale("colour"), legend: null } },
    layer: [
      { mark: { type: "area", opacity: 0.14 }, encoding: { y: { ...y, field: "low" }, y2: { field: "high" } } },
      { mark: { type: "line", strokeWidth: 2 }, encoding: { y, strokeDash: { field: "label", type: "nominal", scale: scale("dash"), legend: null } } },
      { mark: { type: "point", filled: true, size: 70, opacity: 1 }, encoding: { y, shape: { field: "label", type: "nominal", scale: scale("shape"), legend: null }, tooltip } },
    ],
  });
  const table = $("values");
  table.replaceChildren();
  const head = table.createTHead().insertRow();
  for (const word of ["mechanism", ...xs.map((x) => `${axis === "epsilon" ? "ε" : "w"} = ${x}`)]) head.appendChild(Object.assign(document.createElement("th"), { scope: "col", textContent: word }));
  const body = table.createTBody();
  for (const name of names.filter((name) => values.some((row) => row.mechanism === name))) {
    const line = body.insertRow();
    line.appendChild(Object.assign(document.createElement("th"), { scope: "row", textContent: data.mechanisms[name].label }));
    for (const x of xs) {
      const found = values.find((row) => row.mechanism === name && row.x === x);
      line.insertCell().textContent = found ? shown(found.mean) : "–";
    }
  }
}

function legend() {
  for (const name of names) {
    const look = data.mechanisms[name], label = document.createElement("label"), box = document.createElement("input"), swatch = document.createElement("span");
    Object.assign(box, { type: "checkbox", checked: true, value: name });
    swatch.className = "swatch";
    swatch.style.borderTop = `3px ${look.dash.length ? (look.dash[0] > 2 ? "dashed" : "dotted") : "solid"} ${ink(look)}`;
    box.addEventListener("change", () => { hidden[box.checked ? "delete" : "add"](name); explore(); });
    label.append(box, swatch, look.label);
    $("mechanisms").append(label);
  }
}

// ---- player and budget -----------------------------------------------------------------------
function unpack({ scale, bytes }, width) {
  const raw = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
  const whole = new Int16Array(raw.buffer);
  return (step, cell) => whole[step * width + cell] * scale;
}
const floats = (bytes) => new Float32Array(Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)).buffer);
let run = null, playing = null;

function load() {
  const name = $("player-stream").value, stream = data.streams[name];
  const released = Object.keys(stream.releases);
  const chosen = released.includes($("player-mechanism").value) ? $("player-mechanism").value : released.at(-1);
  fill($("player-mechanism"), released.map((key) => [key, data.mechanisms[key].label]), chosen);
  run = { name, stream, mechanism: chosen, truth: unpack(stream.truth, stream.d), released: unpack(stream.releases[chosen], stream.d), nodes: [] };
  run.steps = stream.active.length;
  const slider = $("time");
  slider.max = run.steps - 1;
  slider.value = Math.min(Number(slider.value), run.steps - 1);
  run.most = 1e-12;
  for (let step = 0; step < run.steps; step += 1) for (let cell = 0; cell < stream.d; cell += 1) run.most = Math.max(run.most, run.truth(step, cell) * stream.active[step]);
  for (const [id, ink] of [["true-map", colour("--ink")], ["released-map", data.mechanisms[chosen].colour]]) prepare(id, ink);
  timeline();
  show();
  budget();
}

function prepare(id, ink) {
  const map = $(id), { stream } = run;
  map.replaceChildren();
  const nodes = [], [wide, high] = [320, 220], edge = 14;
  map.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  const placed = stream.layout !== "bars";
  const [xs, ys] = placed ? [0, 1].map((axis) => stream.cells.map((cell) => cell[axis])) : [[], []];
  const [west, east, south, north] = placed ? [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)] : [0, 1, 0, 1];
  const squeeze = stream.layout === "points" ? Math.cos(((south + north) / 2) * Math.PI / 180) : 1;
  const half = stream.layout === "grid" ? 0.5 / Math.max(stream.side - 1, 1) : 0;
  const scale = Math.min((wide - 2 * edge) / Math.max((east - west) * squeeze * (1 + 2 * half), 1e-9), (high - 2 * edge) / Math.max((north - south) * (1 + 2 * half), 1e-9));
  const left = (wide - (east - west) * squeeze * scale) / 2, low = (high + (north - south) * scale) / 2;
  for (let cell = 0; cell < stream.d; cell += 1) {
    let node;
    if (stream.layout === "bars") {
      const width = (wide - 2 * edge) / stream.d;
      node = svg("rect", { x: edge + cell * width + width * 0.1, width: width * 0.8, fill: ink }, map);
    } else {
      const x = left + (xs[cell] - west) * squeeze * scale, y = low - (ys[cell] - south) * scale;
      if (stream.layout === "grid") {
        const width = ((east - west) / Math.max(stream.side - 1, 1)) * scale, height = ((north - south) / Math.max(stream.side - 1, 1)) * scale;
        node = svg("rect", { x: x - width / 2, y: y - height / 2, width, height, fill: ink, stroke: colour("--line"), "stroke-width": 0.5 }, map);
      } else node = svg("circle", { cx: x, cy: y, fill: ink, "fill-opacity": 0.55, stroke: ink, "stroke-width": 0.5 }, map);
    }
    svg("title", {}, node);
    nodes.push(node);
  }
  run.nodes.push(nodes);
}

function put(node, count, title) {
  const part = Math.sqrt(Math.max(count, 0) / run.most);
  if (run.stream.layout === "bars") {
    const height = Math.min(part * part, 1.1) * 180;
    node.setAttribute("y", 206 - height);
    node.setAttribute("height", height);
  } else if (run.stream.layout === "grid") node.setAttribute("fill-opacity", Math.min(part, 1));
  else node.setAttribute("r", Math.min(part, 2) * 14);
  node.firstChild.textContent = title;
}

function moment(step) {
  const { stream } = run, t = step * stream.stride;
  if (stream.start === null) return `t = ${t}`;
  const date = new Date(stream.start + t * stream.slot_minutes * 60000);
  const clock = new Intl.DateTimeFormat("sv-SE", { timeZone: stream.time_zone, dateStyle: "short", timeStyle: "short" });
  return `t = ${t}, ${clock.format(date)}`;
}

function show() {
  const step = Number($("time").value), { stream } = run, n = stream.active[step];
  let error = 0;
  for (let cell = 0; cell < stream.d; cell += 1) {
    const truth = run.truth(step, cell), released = run.released(step, cell);
    error += (truth - released) ** 2 / stream.d;
    const title = `${stream.cells[cell][2]}: ${Math.round(truth * n)} true, ${Math.round(released * n)} released`;
    put(run.nodes[0][cell], truth * n, title);
    put(run.nodes[1][cell], released * n, title);
  }
  const t = step * stream.stride;
  const now = stream.events.filter((event) => event.start <= t && t < event.end).map((event) => event.label);
  $("moment").textContent = `${moment(step)}: ${n.toLocaleString("en")} active, squared error ${shown(error)}${now.length ? `; ${[...new Set(now)].join(", ")}` : ""}`;
  $("time").setAttribute("aria-valuetext", $("moment").textContent);
  $("now")?.setAttribute("x1", (step / Math.max(run.steps - 1, 1)) * 1000);
  $("now")?.setAttribute("x2", (step / Math.max(run.steps - 1, 1)) * 1000);
}

function timeline() {
  const line = $("timeline"), { stream } = run, most = Math.max(...stream.active, 1), last = Math.max(run.steps - 1, 1);
  line.replaceChildren();
  line.setAttribute("viewBox", "0 0 1000 60");
  line.setAttribute("preserveAspectRatio", "none");
  for (const event of stream.events) {
    const mark = svg("rect", { x: (event.start / stream.stride / last) * 1000, y: 0, width: Math.max(((event.end - event.start) / stream.stride / last) * 1000, 3), height: 60, fill: colour("--bad"), "fill-opacity": 0.25 }, line);
    svg("title", {}, mark).textContent = event.label;
  }
  svg("polyline", { points: stream.active.map((n, step) => `${(step / last) * 1000},${58 - (n / most) * 54}`).join(" "), fill: "none", stroke: colour("--quiet"), "vector-effect": "non-scaling-stroke" }, line);
  svg("line", { id: "now", y1: 0, y2: 60, stroke: colour("--accent"), "stroke-width": 2, "vector-effect": "non-scaling-stroke" }, line);
}

function budget() {
  const spent = run.stream.budgets[run.mechanism], ink = data.mechanisms[run.mechanism].colour;
  const [first, second, sums] = spent.parts.map(floats), { stride } = run.stream;
  const values = Array.from(first, (share, step) => ({ t: step * stride, first: share, both: share + second[step], sum: sums[step] }));
  const y = { type: "quantitative", title: "share of the window", scale: { domain: [0, 1.05] } };
  draw("budget", {
    description: `Share of the window that ${data.mechanisms[run.mechanism].label} spends at each timestamp, and its sum over the window`, width: "container", height: 240, data: { values }, encoding: { x: { field: "t", type: "quantitative", title: "timestamp t", axis: { tickCount: 8 }, scale: { nice: false } } },
    layer: [
      { mark: { type: "rule", color: ink, strokeWidth: 1.2 }, transform: [{ filter: "datum.both > datum.first" }], encoding: { y: { ...y, field: "first" }, y2: { field: "both" } } },
      { mark: { type: "area", color: "#999", opacity: 0.7, interpolate: "step" }, encoding: { y: { ...y, field: "first" } } },
      { mark: { type: "line", color: colour("--ink"), strokeWidth: 1.2 }, encoding: { y: { ...y, field: "sum" }, tooltip: [{ field: "t" }, { field: "both", title: "spent at t", format: ".3f" }, { field: "sum", title: "sum over the window", format: ".3f" }] } },
      { data: { values: [{ limit: 1 }] }, mark: { type: "rule", color: colour("--bad"), strokeDash: [5, 4] }, encoding: { x: { value: 0 }, x2: { value: "width" }, y: { ...y, field: "limit" } } },
    ],
  });
  $("budget-words").textContent = `${data.mechanisms[run.mechanism].label} publishes at ${spent.published} of ${run.stream.length} timestamps; the largest sum over w = ${data.focus.window} is ${spent.most.toFixed(4)} of the limit.`;
}

function play() {
  const stop = () => { clearInterval(playing); playing = null; $("play").textContent = "Play"; };
  if (playing) return stop();
  $("play").textContent = "Stop";
  playing = setInterval(() => {
    const slider = $("time");
    if (Number(slider.value) >= run.steps - 1) slider.value = 0;
    else slider.value = Number(slider.value) + 1;
    show();
  }, 120);
}

// ---- profiles --------------------------------------------------------------------------------
function profile() {
  if (!data.profiles.length) return;
  const values = data.profiles.map(([mechanism, factor, share]) => ({ label: data.mechanisms[mechanism].label, factor, share }));
  const labels = names.map((name) => data.mechanisms[name].label), looks = names.map((name) => data.mechanisms[name]);
  draw("profiles", {
    description: "Share of cells in which a mechanism's MSE is within a factor of the lowest", width: "container", height: 260, data: { values },
    mark: { type: "line", interpolate: "step-after", strokeWidth: 2 },
    encoding: {
      x: { field: "factor", type: "quantitative", title: "MSE divided by the lowest of the cell", scale: { type: "log" } },
      y: { field: "share", type: "quantitative", title: "share of cells at or below" },
      color: { field: "label", type: "nominal", scale: { domain: labels, range: looks.map((look) => look.colour) }, legend: null },
      strokeDash: { field: "label", type: "nominal", scale: { domain: labels, range: looks.map((look) => look.dash) }, legend: null },
      tooltip: [{ field: "label", title: "mechanism" }, { field: "factor", format: ".3g" }, { field: "share", format: ".0%" }],
    },
  });
}

fill($("stream"), data.order.map((name) => [name, data.streams[name].title]), data.order[0]);
fill($("player-stream"), data.order.map((name) => [name, data.streams[name].title]), data.order[0]);
fill($("measure"), data.measures.map((kind, place) => [place, kind.title]), 0);
fill($("release"), data.releases.map((name) => [name, name]), data.releases[0]);
legend();
axes();
explore();
load();
profile();
for (const id of ["stream", "axis"]) $(id).addEventListener("change", () => { axes(); explore(); });
for (const id of ["measure", "release", "other"]) $(id).addEventListener("change", explore);
for (const id of ["player-stream", "player-mechanism"]) $(id).addEventListener("change", load);
$("time").addEventListener("input", show);
$("play").addEventListener("click", play);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { explore(); load(); profile(); });

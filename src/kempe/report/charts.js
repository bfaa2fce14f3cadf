// Draws the charts of a clustering report from the data of the page, in the page's colours.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SHAPES = ["circle", "triangle", "rect", "rectRot", "star", "cross"];
  const charts = [];
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const ink = () => ({ ink: css("--ink"), soft: css("--soft"), grid: css("--grid"), accent: css("--accent"), card: css("--card"), high: css("--high"), low: css("--low") });
  // The samples beside the boxes say which dashes are which.
  const DASHES = Object.fromEntries([...document.querySelectorAll("line[data-pairs]")].map((line) => [line.dataset.pairs, (line.getAttribute("stroke-dasharray") ?? "").split(" ").filter(Boolean).map(Number)]));
  const colour = (cluster) => data.colours[cluster % data.colours.length];
  const shape = (cluster) => SHAPES[Math.floor(cluster / data.colours.length) % SHAPES.length];
  const radius = innerWidth < 600 ? 0.7 * data.radius : data.radius;
  const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 5 });
  const axis = (title, more = {}) => ({
    title: { display: Boolean(title), text: title }, grid: { color: () => ink().grid }, border: { color: () => ink().grid }, ...more,
  });

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.plugins.legend.position = "bottom";
  Chart.defaults.plugins.legend.labels.usePointStyle = true;
  Chart.defaults.plugins.legend.labels.boxHeight = 7;

  function draw(id, config) {
    const canvas = document.getElementById(id);
    if (!canvas) return null;
    const chart = new Chart(canvas, config);
    charts.push(chart);
    return chart;
  }

  // The map: a set of points per cluster, and the pairs as lines with gaps between them.
  function points(by) {
    const groups = data.sizes.map((_, cluster) => ({
      label: data.clusters[cluster], data: [], pointStyle: shape(cluster), radius, hoverRadius: radius + 3,
      backgroundColor: colour(cluster) + "cc", borderColor: colour(cluster), borderWidth: shape(cluster) === "star" || shape(cluster) === "cross" ? 1.2 : 0, hitRadius: 3, order: 2,
    }));
    data.map.x.forEach((x, i) => groups[data.map[by][i]].data.push({ x, y: data.map.y[i], i }));
    return groups;
  }
  function lines(name, pairs, style) {
    const path = [];
    for (const [a, b] of pairs) {
      path.push({ x: data.map.x[a], y: data.map.y[a] }, { x: data.map.x[b], y: data.map.y[b] }, { x: NaN, y: NaN });
    }
    return { label: name, data: path, showLine: true, spanGaps: false, radius: 0, hitRadius: 0, pointStyle: "line", order: 1, isPairs: true, borderWidth: 1, ...style };
  }
  function mapSets() {
    const by = document.querySelector("input[name=by]:checked")?.value ?? "cluster";
    const on = (id) => document.getElementById(id)?.checked;
    const sets = points(by);
    if (on("must")) sets.push(lines("must-link", data.map.must, { borderColor: ink().ink + "77" }));
    if (on("cannot")) sets.push(lines("cannot-link", data.map.cannot, { borderColor: ink().soft + "99", borderDash: DASHES.cannot }));
    const broken = { borderColor: ink().high, borderWidth: 2, order: 0 };
    if (on("broken_must")) sets.push(lines("broken must-link", data.map.broken_must, { ...broken, borderDash: DASHES.broken_must }));
    if (on("broken_cannot")) sets.push(lines("broken cannot-link", data.map.broken_cannot, { ...broken, borderDash: DASHES.broken_cannot }));
    if (on("near")) sets.push(lines("nearly broken", data.map.near, { borderColor: ink().low, borderWidth: 1.6, order: 0, borderDash: DASHES.near }));
    if (on("dear")) sets.push(lines("most expensive", data.map.dear, { borderColor: ink().accent, borderWidth: 2.2, order: 0 }));
    return sets;
  }
  function described(i) {
    const map = data.map;
    const text = [map.id[i], "cluster " + data.clusters[map.cluster[i]]];
    if (map.plain[i] !== map.cluster[i]) text.push("k-means: cluster " + data.clusters[map.plain[i]]);
    if (map.n_must[i]) text.push(map.n_must[i] + " must-link");
    if (map.n_cannot[i]) text.push(map.n_cannot[i] + " cannot-link");
    if (map.n_broken[i]) text.push(map.n_broken[i] + " broken");
    return text;
  }
  // Names of the clusters stand over their rows: colours alone do not tell forty of them apart. Where one
  // would cover another it goes to the nearest place that is free, and a line says where it belongs.
  const LINE = 13, PLACES = [];
  for (let down = -4; down <= 4; down++) for (let right = -3; right <= 3; right++) PLACES.push([0.75 * LINE * right, LINE * down]);
  PLACES.sort(([a, b], [c, d]) => Math.hypot(a, b) - Math.hypot(c, d));
  function freePlace(x, y, width, taken) {
    const covers = ([dx, dy]) => taken.some((other) => Math.abs(other.x - x - dx) < (other.width + width) / 2 + 2 && Math.abs(other.y - y - dy) < LINE - 1);
    const [dx, dy] = PLACES.find((place) => !covers(place)) ?? [0, 0];
    taken.push({ x: x + dx, y: y + dy, width });
    return [x + dx, y + dy];
  }
  function leader(pen, from, to) {
    pen.save();
    pen.lineWidth = 1; pen.strokeStyle = ink().ink;
    pen.beginPath(); pen.moveTo(...from); pen.lineTo(...to); pen.stroke();
    pen.restore();
  }
  const names = {
    id: "names",
    afterDatasetsDraw(chart) {
      const at = found === null ? null : chart.getDatasetMeta(data.map[shownBy()][found.i])?.data[found.place];
      const pen = chart.ctx;
      pen.save();
      pen.beginPath();
      pen.rect(chart.chartArea.left, chart.chartArea.top, chart.chartArea.width, chart.chartArea.height);
      pen.clip();
      if (document.getElementById("named")?.checked) {
        pen.font = `600 12px ${Chart.defaults.font.family}`;
        pen.textAlign = "center"; pen.textBaseline = "middle"; pen.lineWidth = 3; pen.lineJoin = "round";
        pen.strokeStyle = ink().card; pen.fillStyle = ink().ink;
        const taken = [];
        chart.data.datasets.forEach((set, k) => {
          const points = set.isPairs ? [] : chart.getDatasetMeta(k).data;
          if (!points.length) return;
          const middle = (of) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
          const text = set.label.length > 18 ? set.label.slice(0, 17) + "…" : set.label;
          const home = [middle("x"), middle("y")];
          const [x, y] = freePlace(...home, pen.measureText(text).width, taken);
          if (Math.hypot(x - home[0], y - home[1]) > LINE) leader(pen, home, [x, y]);
          pen.strokeText(text, x, y); pen.fillText(text, x, y);
        });
      }
      if (at) {
        pen.strokeStyle = ink().accent; pen.lineWidth = 2.5;
        pen.beginPath(); pen.arc(at.x, at.y, 9, 0, 2 * Math.PI); pen.stroke();
      }
      pen.restore();
    },
  };
  let found = null;
  const shownBy = () => document.querySelector("input[name=by]:checked")?.value ?? "cluster";
  const map = draw("map", {
    type: "scatter",
    plugins: [names],
    data: { datasets: mapSets() },
    options: {
      interaction: { mode: "nearest", intersect: true },
      scales: { x: axis(data.axes[0]), y: axis(data.axes[1]) },
      plugins: {
        legend: { display: data.sizes.length <= 12, labels: { filter: (item, chart) => !chart.datasets[item.datasetIndex].isPairs } },
        tooltip: { displayColors: false, callbacks: { title: () => "", label: (item) => (item.raw.i === undefined ? "" : described(item.raw.i)) } },
      },
    },
  });
  for (const control of document.querySelectorAll(".controls input:not([type=search])")) {
    control.addEventListener("change", () => { place(); map.data.datasets = mapSets(); map.update(); });
  }

  // Rows can be found by their ids, and gone through by the arrow keys.
  function place() {
    if (found === null) return;
    const by = data.map[shownBy()], cluster = by[found.i];
    found.place = by.slice(0, found.i).filter((other) => other === cluster).length;
  }
  function show(i) {
    found = i === null ? null : { i, place: 0 };
    place();
    document.getElementById("found").textContent = i === null ? "" : described(i).join(" · ");
    map.update();
  }
  const row = document.getElementById("row");
  row?.addEventListener("input", () => {
    const wanted = row.value.trim().toLowerCase();
    if (!wanted) return show(null);
    const ids = data.map.id.map((id) => String(id).toLowerCase());
    const exact = ids.indexOf(wanted);
    const near = exact >= 0 ? exact : ids.findIndex((id) => id.startsWith(wanted));
    if (near >= 0) return show(near);
    show(null);
    document.getElementById("found").textContent = "No row of the map has this id.";
  });
  row?.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !data.map.id.length) return;
    event.preventDefault();
    const next = ((found === null ? (step > 0 ? -1 : 0) : found.i) + step + data.map.id.length) % data.map.id.length;
    row.value = data.map.id[next];
    show(next);
  });

  // Closer and farther, about the row that was found or about the middle.
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      const factor = Number(button.dataset.zoom);
      for (const name of ["x", "y"]) {
        const scale = map.scales[name], options = map.options.scales[name];
        const middle = found === null ? (scale.min + scale.max) / 2 : data.map[name][found.i];
        const half = factor * (scale.max - scale.min) / 2;
        options.min = factor ? middle - half : undefined;
        options.max = factor ? middle + half : undefined;
      }
      map.update();
    });
  }

  draw("sizes", {
    type: "bar",
    data: {
      labels: data.clusters,
      datasets: [
        { label: "this clustering", data: data.sizes, backgroundColor: data.sizes.map((_, c) => colour(c)), pointStyle: "rect" },
        { label: "k-means without constraints", data: data.plain_sizes, backgroundColor: "#8a94a066", pointStyle: "rect" },
      ],
    },
    options: {
      scales: { x: axis("cluster", { grid: { display: false } }), y: axis("rows", { beginAtZero: true, ticks: { precision: 0 } }) },
      plugins: { legend: { labels: { generateLabels: (chart) => chart.data.datasets.map((set, i) => ({
        text: set.label, datasetIndex: i, pointStyle: "rect", lineWidth: 0, fontColor: ink().ink, hidden: !chart.isDatasetVisible(i),
        fillStyle: Array.isArray(set.backgroundColor) ? set.backgroundColor[0] : set.backgroundColor })) } } },
    },
  });

  const kinds = [...new Set(data.search.kind)];
  draw("search", {
    type: "scatter",
    data: {
      datasets: [
        { label: "best so far", data: data.search.best, showLine: true, stepped: "before", radius: 0, hitRadius: 4, borderWidth: 2, pointStyle: "line", order: 0, isBest: true },
        ...kinds.map((kind, k) => ({
          label: kind, data: data.search.seen.filter((_, i) => data.search.kind[i] === kind), radius: 2.5, pointStyle: shape(k * data.colours.length), backgroundColor: colour(k) + "aa", borderWidth: 0, order: 1,
        })),
      ],
    },
    options: {
      scales: { x: axis("seconds", { beginAtZero: true }), y: axis(data.search.minimised, { ticks: { callback: (value) => number(value) } }) },
      plugins: { tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${number(item.parsed.y)} after ${number(item.parsed.x)} s` } } },
    },
  });

  // Charts know nothing of style sheets: the colours of the page are handed to them, now and when they change.
  function follow() {
    const now = ink();
    Chart.defaults.color = now.ink;
    Chart.defaults.plugins.tooltip.backgroundColor = now.ink;
    Chart.defaults.plugins.tooltip.bodyColor = Chart.defaults.plugins.tooltip.titleColor = now.card;
    for (const chart of charts) {
      for (const scale of Object.values(chart.options.scales)) { scale.ticks.color = now.soft; scale.title.color = now.soft; }
      chart.options.color = now.ink;
      for (const set of chart.data.datasets) if (set.isBest) set.borderColor = now.ink;
      if (chart === map) chart.data.datasets = mapSets();
      chart.update();
    }
  }
  follow();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow);
  // Paper has another width, and is light.
  for (const moment of ["beforeprint", "afterprint"]) {
    addEventListener(moment, () => { for (const chart of charts) chart.resize(); follow(); });
  }
  matchMedia("print").addEventListener("change", () => { for (const chart of charts) chart.resize(); follow(); });
})();

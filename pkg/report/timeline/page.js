"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const END = Math.max(data.end, 1);
  const LEAST = 200; // microseconds: the shortest time that the chart shows
  const BAR = 24, GAP = 4;
  const FONT = "12px system-ui, 'DejaVu Sans', sans-serif";

  // In the order of the styles in model.go: how a span is drawn, and what it means.
  const SPANS = [
    { bar: "color", means: "up, colored by release" }, { bar: "half", means: "runs, and is not ready" },
    { bar: "stripes", means: "paused" }, { bar: "dead", means: "no process" },
    { bar: "color", means: "leads, colored by member" }, { bar: "none", means: "no leader" },
    { bar: "color", means: "agreed, colored by version" }, { bar: "stripes", means: "none agreed" }, { bar: "none", means: "no object" },
    { bar: "half", means: "waits" }, { bar: "color", means: "runs" }, { bar: "good", means: "succeeded" }, { bar: "dead", means: "failed" },
    { bar: "color", means: "discovery tag" }, { bar: "step", means: "step, by its number; the table of steps has all words" }, { bar: "hold", means: "hold" }, { bar: "fault", means: "fault" },
    { bar: "stepFailed", means: "step that failed" },
    { bar: "good", means: "custom resource served" }, { bar: "half", means: "custom resource not served yet" }, { bar: "dead", means: "custom resource not found at a server that is ready" },
    { bar: "good", means: "all etcd members hold the same data" }, { bar: "stripes", means: "etcd members hold different data" }, { bar: "half", means: "etcd data not compared" },
  ];
  const MARKS = [
    { ink: "--breach", shape: "flag", means: "shows that a requirement is broken" }, { ink: "--barrier", shape: "tick", means: "refused until registered (503)" },
    { ink: "--error", shape: "tick", means: "refused (429 or 5xx)" }, { ink: "--silent", shape: "tick", means: "no answer" },
    { ink: "--witness", shape: "flag", means: "proof that the fault took effect" }, { ink: "--unsure", shape: "flag", means: "a recorder may have missed something" },
    { ink: "--other", shape: "flag", means: "differs as documented" }, { ink: "--ink", shape: "tick", means: "change" },
  ];

  const view = { from: 0, to: END };
  const lanes = [];
  let chosen = null; // {seq, at, lane, item}
  let ink = {};

  // --- Time ---

  const seconds = (us) => (us / 1e6).toFixed(us < 1e7 ? 3 : 2) + " s";
  const clock = (us) => new Date(data.started + us / 1000).toISOString().slice(11, 23);

  function eventOf(seq) {
    const list = data.events.seq || [];
    let low = 0, high = list.length - 1;
    while (low <= high) {
      const mid = (low + high) >> 1;
      if (list[mid] === seq) return { at: data.events.at[mid], text: data.events.text[mid] };
      if (list[mid] < seq) low = mid + 1; else high = mid - 1;
    }
    return null;
  }

  function show(from, to) {
    const span = Math.min(Math.max(to - from, LEAST), END);
    const middle = (from + to) / 2;
    view.from = Math.min(Math.max(middle - span / 2, 0), END - span);
    view.to = view.from + span;
    redraw();
  }

  function zoom(factor, at) {
    const span = view.to - view.from;
    const wanted = Math.min(Math.max(span * factor, LEAST), END);
    const share = (at - view.from) / span;
    show(at - wanted * share, at + wanted * (1 - share));
  }

  const move = (share) => { const d = (view.to - view.from) * share; show(view.from + d, view.to + d); };
  const center = () => (chosen && chosen.at >= view.from && chosen.at <= view.to ? chosen.at : (view.from + view.to) / 2);

  // --- Drawing ---

  let pending = false;
  function redraw() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      drawAxis();
      for (const lane of lanes) drawLane(lane);
      if (!document.documentElement.dataset.drawn) {
        document.documentElement.dataset.drawn = "yes";
        performance.mark("drawn"); // for the test
      }
      $("whole").disabled = view.from <= 0 && view.to >= END;
    });
  }

  function readInk() {
    const style = getComputedStyle(document.documentElement);
    ink = new Proxy({}, { get: (seen, name) => seen[name] || (seen[name] = style.getPropertyValue(name).trim()) });
  }

  function surface(canvas, height) {
    const width = canvas.clientWidth, dots = window.devicePixelRatio || 1;
    if (!width) return null;
    if (canvas.width !== Math.round(width * dots) || canvas.height !== Math.round(height * dots)) {
      canvas.width = Math.round(width * dots);
      canvas.height = Math.round(height * dots);
      canvas.style.height = height + "px";
    }
    const g = canvas.getContext("2d");
    g.setTransform(dots, 0, 0, dots, 0, 0);
    g.clearRect(0, 0, width, height);
    return { g, width, height, x: (us) => ((us - view.from) / (view.to - view.from)) * width };
  }

  function drawAxis() {
    const s = surface(axis, 26);
    if (!s) return;
    s.g.fillStyle = ink["--faint"];
    s.g.font = FONT;
    const label = (t) => (t / 1e6).toFixed(6).replace(/\.?0+$/, "") + " s";
    // The smallest round step at which neighboring labels stand apart.
    const points = (us) => (us / (view.to - view.from)) * s.width;
    let step = 1;
    for (let by = 0; points(step) < s.g.measureText(label(Math.floor(view.to / step) * step)).width + 16; by++) step *= [2, 2.5, 2][by % 3];
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      const x = s.x(t);
      s.g.fillRect(x, 19, 1, 7);
      const wide = s.g.measureText(label(t)).width;
      s.g.fillText(label(t), Math.min(Math.max(x - wide / 2, 0), s.width - wide), 14);
    }
  }

  function drawLane(lane) {
    if (lane.group && !lane.group.open) return;
    const s = surface(lane.canvas, BAR + GAP);
    if (!s) return;
    const g = s.g, top = GAP / 2, w = s.width;
    g.fillStyle = ink["--row"];
    g.fillRect(0, top, w, BAR);
    g.fillStyle = ink["--band"];
    for (const b of data.bands || []) {
      const a = s.x(b.from), e = s.x(b.to);
      if (e >= 0 && a <= w) g.fillRect(a, 0, Math.max(e - a, 1), s.height);
    }
    if (lane.density) drawDensity(lane, s, top);
    g.font = FONT;
    g.textBaseline = "middle";
    let last = -1;
    for (const it of lane.spans) {
      const a = s.x(it.from), e = s.x(it.to);
      if (e < 0 || a > w) continue;
      if (e - a < 0.5 && Math.floor(a) === last) continue; // another of the same point
      last = Math.floor(a);
      drawSpan(g, it, Math.max(a, -2), Math.min(Math.max(e, a + 1), w + 2), top);
    }
    if (lane.steps) drawStepWords(lane, s, top);
    const done = new Set();
    for (const it of lane.marks) {
      const x = s.x(it.from);
      if (x < -6 || x > w + 6) continue;
      const key = it.style * 1e5 + Math.round(x);
      if (done.has(key)) continue;
      done.add(key);
      drawMark(g, MARKS[it.style], x, top);
    }
    if (chosen) {
      const x = s.x(chosen.at);
      g.fillStyle = ink["--cursor"];
      g.fillRect(x - 0.5, 0, 1, s.height);
      if (chosen.lane === lane && chosen.item) {
        const a = Math.max(s.x(chosen.item.from), 0), e = Math.min(s.x(chosen.item.to), w);
        g.strokeStyle = ink["--ink"];
        g.lineWidth = 2;
        g.strokeRect(a + 1, top + 1, Math.max(e - a - 2, 2), BAR - 2);
      }
    }
  }

  function drawDensity(lane, s, top) {
    const n = lane.density.length, most = lane.most;
    s.g.fillStyle = ink["--density"];
    for (let i = 0; i < n; i++) {
      const a = s.x((i * END) / n), e = s.x(((i + 1) * END) / n);
      if (!lane.density[i] || e < 0 || a > s.width) continue;
      const h = Math.max((lane.density[i] / most) * (BAR - 8), 1);
      s.g.fillRect(a, top + BAR - h, Math.max(e - a, 1), h);
    }
  }

  function stripes(g, a, top, width, height, color) {
    g.save();
    g.beginPath();
    g.rect(a, top, width, height);
    g.clip();
    g.strokeStyle = color;
    g.lineWidth = 2;
    g.beginPath();
    for (let x = a - height; x < a + width; x += 7) { g.moveTo(x, top + height); g.lineTo(x + height, top); }
    g.stroke();
    g.restore();
  }

  function drawSpan(g, it, a, e, top) {
    const width = e - a, kind = SPANS[it.style], color = ink["--c" + (it.color % 8)];
    let words = ink["--on"];
    switch (kind.bar) {
      case "half":
        g.fillStyle = color;
        g.fillRect(a, top + BAR / 2, width, BAR / 2);
        words = width > 60 ? ink["--ink"] : null;
        break;
      case "stripes":
        g.fillStyle = ink["--row"];
        g.fillRect(a, top, width, BAR);
        stripes(g, a, top, width, BAR, ink["--hold"]);
        g.fillStyle = ink["--paused"];
        g.fillRect(a, top, width, 2);
        g.fillRect(a, top + BAR - 2, width, 2);
        words = ink["--ink"];
        break;
      case "dead":
        g.fillStyle = ink["--dead"];
        g.fillRect(a, top + BAR / 2 - 1, width, 2);
        words = null;
        break;
      case "none":
        g.fillStyle = ink["--silent"];
        g.fillRect(a, top + BAR - 3, width, 2);
        words = null;
        break;
      case "hold":
        g.fillStyle = ink["--hold"];
        g.fillRect(a, top + 2, width, BAR - 4);
        words = ink["--ink"];
        break;
      case "step":
      case "stepFailed":
        g.fillStyle = ink["--step"];
        g.fillRect(a, top, width, BAR);
        g.fillStyle = ink[kind.bar === "step" ? "--edge" : "--dead"];
        g.fillRect(a, top, kind.bar === "step" ? 1 : width, kind.bar === "step" ? BAR : 3);
        words = null; // drawStepWords writes them
        break;
      case "fault":
        g.fillStyle = ink["--witness"];
        g.fillRect(a, top, width, 3);
        g.fillRect(a, top, 1, BAR);
        words = ink["--ink"];
        break;
      default:
        g.fillStyle = kind.bar === "good" ? ink["--c2"] : color;
        g.fillRect(a, top, width, BAR);
    }
    if (["half", "hold", "good", "color"].includes(kind.bar)) { // the colors alone are close to the row's
      g.fillStyle = ink["--edge"];
      g.fillRect(a, top + (kind.bar === "hold" ? BAR - 3 : BAR - 1), width, 1);
    }
    if (width > 3 && !["dead", "none", "step", "stepFailed"].includes(kind.bar)) { // an edge between neighbors of the same color
      g.fillStyle = ink["--ground"];
      g.fillRect(a, top, 1, BAR);
    }
    const told = words && fitting(g, data.texts[it.text], width - 8);
    if (told) {
      g.fillStyle = words;
      g.fillText(told, Math.max(a, 0) + 5, top + BAR / 2 + (kind.bar === "half" ? -1 : 0.5));
    }
  }

  // fitting is as much of a text as fits: all of it, its first part, or what an ellipsis ends. Less
  // than TOLD characters say nothing: releases begin alike.
  const TOLD = 8;
  function fitting(g, text, room) {
    if (room < 8) return "";
    for (const one of [text, text.split(/ \(|; |: |, /)[0]]) if (g.measureText(one).width <= room) return one;
    let kept = text.slice(0, 80);
    while (kept.length >= TOLD && g.measureText(kept + "…").width > room) kept = kept.slice(0, -1);
    return kept.length >= TOLD ? kept + "…" : "";
  }

  // drawStepWords writes the words of each step, or its number where they do not fit. Steps that
  // are too short for their numbers have them together with the next ones, as a range.
  function drawStepWords(lane, s, top) {
    const g = s.g, y = top + BAR / 2 + 0.5, fits = (text, room) => g.measureText(text).width <= room - 6;
    const number = (it) => data.texts[it.text].split(" ")[0];
    g.fillStyle = ink["--ink"];
    let waiting = null; // the first step whose number is not written yet
    let free = 0;
    lane.spans.forEach((it, i) => {
      const next = lane.spans[i + 1], end = Math.min(next ? s.x(next.from) : s.width, s.width);
      if (s.x(it.to) < 0 && end < 0 || s.x(it.from) > s.width) return;
      const text = data.texts[it.text].split(/: /)[0], last = waiting && lane.spans[i - 1];
      const before = !waiting ? "" : number(waiting) === number(last) ? number(waiting) + ", " : number(waiting) + "–" + number(last) + ", ";
      let a = Math.max(s.x(it.from), free, 0);
      let told = [before + text, before + text.replace(/ to \S+$/, "")].find((one) => fits(one, end - a));
      if (!told) {
        if (waiting) a = Math.max(s.x(waiting.from), free, 0);
        told = waiting ? number(waiting) + "–" + number(it) : number(it);
      }
      if (!fits(told, end - a)) { waiting = waiting || it; return; }
      g.fillText(told, a + 4, y);
      free = a + 4 + g.measureText(told).width;
      waiting = null;
    });
    if (waiting) { // at the right edge nothing follows that has room
      const last = lane.spans[lane.spans.length - 1];
      const told = waiting === last ? number(last) : number(waiting) + "–" + number(last), x = s.width - g.measureText(told).width - 1;
      if (x > free + 2) g.fillText(told, x, y);
    }
  }

  function drawMark(g, kind, x, top) {
    if (kind.shape === "tick") {
      g.fillStyle = ink["--row"]; // apart from the bars behind it
      g.fillRect(x - 1.75, top + 3, 3.5, BAR - 6);
      g.fillStyle = ink[kind.ink];
      g.fillRect(x - 0.75, top + 3, 1.5, BAR - 6);
      return;
    }
    g.fillStyle = ink[kind.ink];
    g.fillRect(x - 1, top, 2, BAR);
    g.beginPath();
    g.moveTo(x - 5, top);
    g.lineTo(x + 5, top);
    g.lineTo(x, top + 8);
    g.fill();
  }

  // --- What is under the pointer, or has the focus ---

  // items of a lane in the order of time: what the arrow keys walk through.
  function itemsOf(lane) {
    if (!lane.items) lane.items = lane.spans.concat(lane.marks).sort((a, b) => a.from - b.from || a.seq - b.seq);
    return lane.items;
  }

  function hit(lane, x) {
    const width = lane.canvas.clientWidth, scale = (view.to - view.from) / width, at = view.from + x * scale;
    let best = null, least = 8;
    for (const it of lane.marks) {
      const far = Math.abs(it.from - at) / scale;
      if (far < least) { best = it; least = far; }
    }
    if (best) return best;
    let inside = null;
    for (const it of lane.spans) {
      if (it.from <= at + 2 * scale && it.to >= at - 2 * scale) inside = it;
      if (it.from > at + 2 * scale) break;
    }
    return inside;
  }

  function words(lane, it) {
    if (it.count === undefined) return data.texts[it.text];
    return (it.count > 1 ? it.count + " times close together: " : "") + MARKS[it.style].means;
  }

  function tell(seq, at, lane, it) {
    const event = eventOf(seq);
    const where = lane ? lane.label + ": " + words(lane, it) + " — " : "";
    $("told").textContent = where + "event " + seq + ", " + seconds(at) + " (" + clock(at) + " UTC)";
    $("text").textContent = event && event.text ? event.text : "This event is not in the page, to keep it small.";
    $("command").textContent = "In full, in the bundle: " + data.show.replace("N", seq);
    $("detail").hidden = false;
  }

  function choose(lane, it, keep) {
    chosen = { seq: it.seq, at: it.from, lane, item: it };
    tell(it.seq, it.from, lane, it);
    const items = itemsOf(lane), i = items.indexOf(it);
    lane.row.setAttribute("aria-valuenow", i + 1);
    lane.row.setAttribute("aria-valuetext", words(lane, it) + ", event " + it.seq + ", " + seconds(it.from));
    if (!keep && (it.from < view.from || it.from > view.to)) {
      const half = (view.to - view.from) / 2;
      show(it.from - half, it.from + half);
    }
    redraw();
  }

  // jump goes to an event of the history, whether or not a lane shows it.
  function jump(seq) {
    const event = eventOf(seq);
    if (!event) return;
    let lane = null, item = null;
    for (const l of lanes) {
      item = itemsOf(l).find((it) => it.seq === seq);
      if (item) { lane = l; break; }
    }
    const half = Math.min(Math.max(END / 40, 5e5), (view.to - view.from) / 2);
    show(event.at - half, event.at + half);
    if (lane) {
      if (lane.group) lane.group.open = true;
      choose(lane, item, true);
    } else {
      chosen = { seq, at: event.at, lane: null, item: null };
      tell(seq, event.at);
    }
    redraw();
    $("chart").scrollIntoView({ block: "start" });
    if (lane) lane.row.focus({ preventScroll: true });
  }

  function unchoose() {
    chosen = null;
    $("detail").hidden = true;
    redraw();
  }

  function seek(by) {
    const list = data.findings || [];
    if (!list.length) return;
    let i;
    if (by === 0) i = 0;
    else if (by > 0) i = list.findIndex((seq) => !chosen || seq > chosen.seq);
    else { i = -1; for (let k = 0; k < list.length; k++) if (chosen && list[k] < chosen.seq) i = k; }
    if (i < 0) i = by > 0 ? 0 : list.length - 1;
    go(list[i]);
  }

  function go(seq) {
    if (location.hash === "#event=" + seq) jump(seq);
    else location.hash = "event=" + seq;
  }

  function follow() {
    const found = /^#event=(\d+)$/.exec(location.hash);
    if (found) jump(Number(found[1]));
  }

  // --- Building ---

  const axis = document.createElement("canvas");
  axis.setAttribute("aria-hidden", "true");
  $("axis").append(axis);

  for (const g of data.groups || []) {
    const box = document.createElement("details"), title = document.createElement("summary");
    box.open = !g.folded;
    title.textContent = g.name + (g.folded ? " (" + g.lanes.length + ")" : "");
    box.append(title);
    box.addEventListener("toggle", redraw);
    for (const l of g.lanes) {
      const row = document.createElement("div"), name = document.createElement("span"), canvas = document.createElement("canvas");
      const lane = {
        row, canvas, group: box, label: g.name + ", " + l.name, density: l.density, most: Math.max(1, ...(l.density || [])),
        name: l.name, steps: l.name === "steps",
        spans: (l.spans || []).map((s) => ({ from: s[0], to: s[1], style: s[2], color: s[3], text: s[4], seq: s[5] })),
        marks: (l.marks || []).map((m) => ({ from: m[0], to: m[0], style: m[1], seq: m[2], count: m[3] })),
      };
      row.className = "lane" + (g.name === "Findings" ? " finding" : "");
      row.tabIndex = lanes.length ? -1 : 0;
      row.setAttribute("role", "slider");
      row.setAttribute("aria-label", lane.label);
      row.setAttribute("aria-valuemin", 1);
      row.setAttribute("aria-valuemax", Math.max(1, lane.spans.length + lane.marks.length));
      row.setAttribute("aria-valuenow", 1);
      row.setAttribute("aria-valuetext", lane.spans.length + lane.marks.length + " changes");
      name.className = "name";
      for (const part of l.name.split(/(?<=[./])/)) name.append(part, document.createElement("wbr"));
      name.title = l.name;
      canvas.setAttribute("aria-hidden", "true");
      row.append(name, canvas);
      box.append(row);
      lanes.push(lane);
      point(lane);
      row.addEventListener("keydown", (ev) => key(ev, lane));
      row.addEventListener("focus", () => {
        for (const o of lanes) o.row.tabIndex = o === lane ? 0 : -1;
        if (chosen && chosen.lane === lane) return;
        const first = itemsOf(lane).find((it) => it.to >= view.from && it.from <= view.to);
        if (first) tell(first.seq, first.from, lane, first);
      });
    }
    $("lanes").append(box);
  }

  function point(lane) {
    const c = lane.canvas;
    const held = new Map();
    let moved = 0, apart = 0;
    const at = (ev) => ev.clientX - c.getBoundingClientRect().left;
    c.addEventListener("pointerdown", (ev) => {
      held.set(ev.pointerId, ev.clientX);
      moved = 0;
      apart = 0;
      c.setPointerCapture(ev.pointerId);
    });
    c.addEventListener("pointermove", (ev) => {
      if (!held.has(ev.pointerId)) {
        const it = ev.pointerType === "mouse" && hit(lane, at(ev));
        c.style.cursor = it ? "pointer" : "grab";
        c.title = it ? words(lane, it) : "";
        if (it) tell(it.seq, it.from, lane, it);
        return;
      }
      const before = held.get(ev.pointerId);
      held.set(ev.pointerId, ev.clientX);
      moved += Math.abs(ev.clientX - before);
      if (held.size === 2) {
        const [a, b] = [...held.values()], now = Math.abs(a - b);
        const rect = c.getBoundingClientRect(), middle = (a + b) / 2 - rect.left;
        if (apart > 0 && now > 0) zoom(apart / now, view.from + (middle / rect.width) * (view.to - view.from));
        apart = now;
      } else if (moved > 4) {
        move((before - ev.clientX) / c.clientWidth);
      }
    });
    const end = (ev) => {
      if (ev.type === "pointerup" && held.size === 1 && moved <= 4) {
        const it = hit(lane, at(ev));
        if (it) { choose(lane, it, true); lane.row.focus({ preventScroll: true }); }
      }
      held.delete(ev.pointerId);
      apart = 0;
    };
    c.addEventListener("pointerup", end);
    c.addEventListener("pointercancel", end);
    c.addEventListener("pointerleave", () => { if (chosen && !held.size) tell(chosen.seq, chosen.at, chosen.lane, chosen.item); });
    c.addEventListener("wheel", (ev) => {
      if (!ev.ctrlKey && !ev.metaKey) {
        if (Math.abs(ev.deltaX) > Math.abs(ev.deltaY)) { ev.preventDefault(); move(ev.deltaX / c.clientWidth); }
        return;
      }
      ev.preventDefault();
      zoom(Math.exp(ev.deltaY / 300), view.from + (at(ev) / c.clientWidth) * (view.to - view.from));
    }, { passive: false });
  }

  function key(ev, lane) {
    if (ev.ctrlKey || ev.metaKey || ev.altKey) return;
    const items = itemsOf(lane);
    const i = chosen && chosen.lane === lane ? items.indexOf(chosen.item) : -1;
    const shown = lanes.filter((l) => l.group.open), here = shown.indexOf(lane);
    switch (ev.key) {
      case "ArrowRight": if (items.length) choose(lane, items[Math.min(i + 1, items.length - 1)]); break;
      case "ArrowLeft": if (items.length) choose(lane, items[Math.max(i - 1, 0)]); break;
      case "Home": if (items.length) choose(lane, items[0]); break;
      case "End": if (items.length) choose(lane, items[items.length - 1]); break;
      case "ArrowDown": if (here + 1 < shown.length) shown[here + 1].row.focus(); break;
      case "ArrowUp": if (here > 0) shown[here - 1].row.focus(); break;
      default: return;
    }
    ev.preventDefault();
  }

  document.addEventListener("keydown", (ev) => {
    if (ev.ctrlKey || ev.metaKey || ev.altKey) return;
    const acts = {
      "+": () => zoom(0.5, center()), "=": () => zoom(0.5, center()), "-": () => zoom(2, center()), "0": () => show(0, END),
      n: () => seek(1), p: () => seek(-1), Escape: unchoose,
    };
    if (acts[ev.key]) { acts[ev.key](); ev.preventDefault(); }
  });
  $("whole").onclick = () => show(0, END);
  $("in").onclick = () => zoom(0.5, center());
  $("out").onclick = () => zoom(2, center());
  $("left").onclick = () => move(-0.5);
  $("right").onclick = () => move(0.5);
  $("first").onclick = () => seek(0);
  $("next").onclick = () => seek(1);
  $("previous").onclick = () => seek(-1);
  $("close").onclick = unchoose;
  for (const b of document.querySelectorAll(".jump")) b.hidden = !(data.findings || []).length;
  document.addEventListener("click", (ev) => {
    const link = ev.target.closest && ev.target.closest("a.event");
    if (link && link.hash === location.hash) { ev.preventDefault(); follow(); }
  });

  const EMPTY = data.texts.push("") - 1;
  // The legend lists only the styles that this page has.
  const legend = [];
  function sample(kind, draw, means) {
    if (legend.some((l) => l.means === means)) return;
    const box = document.createElement("span"), canvas = document.createElement("canvas");
    canvas.setAttribute("aria-hidden", "true");
    box.append(canvas, means);
    $("legend").append(box);
    legend.push({ means, draw: () => {
      const dots = window.devicePixelRatio || 1;
      canvas.width = 22 * dots;
      canvas.height = 14 * dots;
      const g = canvas.getContext("2d");
      g.setTransform(dots, 0, 0, (14 / BAR) * dots, 0, 0);
      g.fillStyle = ink["--row"];
      g.fillRect(0, 0, 22, BAR);
      draw(g);
    } });
  }
  for (const lane of lanes) {
    for (const it of lane.spans) sample(it, (g) => drawSpan(g, { ...it, text: EMPTY }, 0, 22, 0), SPANS[it.style].means);
    if (lane.density) sample(lane, (g) => { g.fillStyle = ink["--density"]; [5, 9, 16, 12].forEach((h, i) => g.fillRect(1 + i * 5, BAR - h, 5, h)); }, "number of requests: full height is the most in that lane");
    for (const it of lane.marks) sample(it, (g) => drawMark(g, MARKS[it.style], 11, 0), MARKS[it.style].means);
  }

  function dress() {
    readInk();
    for (const l of legend) l.draw();
    redraw();
  }
  // On a phone the event takes as little of the page as it can.
  $("more").open = innerWidth > 700;
  // The column of names is as wide as the longest of them, as far as there is room.
  const pen = axis.getContext("2d");
  pen.font = "600 13.2px system-ui, 'DejaVu Sans', sans-serif";
  const widest = Math.max(0, ...lanes.map((l) => pen.measureText(l.name).width));
  document.documentElement.style.setProperty("--names", Math.min(Math.ceil(widest) + 14, 280) + "px");
  $("tools").hidden = false;
  $("hint").hidden = false;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  addEventListener("resize", redraw);
  addEventListener("hashchange", follow);
  dress();
  follow();
})();

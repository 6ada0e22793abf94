// Numbers and times as they are shown. What is absent is a dash.

const NONE = "–";
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const decimals = [0, 1, 2].map((digits) => new Intl.NumberFormat("en-GB", { maximumFractionDigits: digits }));

function count(value) {
  if (!isNumber(value)) return NONE;
  if (value < 10_000) return whole.format(value);
  if (value < 1_000_000) return `${decimals[1].format(value / 1000)}k`;
  return `${decimals[1].format(value / 1_000_000)}M`;
}

function rate(value) {
  if (!isNumber(value)) return NONE;
  if (value === 0) return "0";
  if (value < 0.01) return "<0.01";
  return value < 10 ? decimals[2].format(value) : value < 100 ? decimals[1].format(value) : count(value);
}

/** A part of one as percent. */
function share(value) {
  if (!isNumber(value)) return NONE;
  const percent = value * 100;
  if (percent > 0 && percent < 0.01) return "<0.01 %";
  return `${decimals[percent < 10 ? 2 : 1].format(percent)} %`;
}

const percent = (value) => (isNumber(value) ? `${decimals[2].format(value)} %` : NONE);

function milliseconds(value) {
  if (!isNumber(value)) return NONE;
  if (value >= 10_000) return `${decimals[1].format(value / 1000)} s`;
  return `${value < 10 ? decimals[1].format(value) : whole.format(value)} ms`;
}

function seconds(value) {
  if (!isNumber(value)) return NONE;
  if (value < 120) return `${whole.format(value)} s`;
  return value < 7200 ? `${whole.format(value / 60)} min` : `${decimals[1].format(value / 3600)} h`;
}

/** `14:03:22`, with the date when it is not today's. */
function clock(text) {
  const time = new Date(text ?? NaN);
  if (Number.isNaN(time.getTime())) return NONE;
  const isToday = time.toDateString() === new Date().toDateString();
  const hours = time.toLocaleTimeString("en-GB");
  return isToday ? hours : `${time.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" })}, ${hours}`;
}

/** `3 min ago`, by the gateway's clock. */
function ago(text, now) {
  const past = Date.parse(text ?? "");
  if (Number.isNaN(past)) return NONE;
  const elapsed = Math.max(0, (now - past) / 1000);
  if (elapsed < 5) return "now";
  if (elapsed < 60) return `${Math.floor(elapsed)} s ago`;
  if (elapsed < 3600) return `${Math.floor(elapsed / 60)} min ago`;
  if (elapsed < 172_800) return `${Math.floor(elapsed / 3600)} h ago`;
  return `${Math.floor(elapsed / 86_400)} days ago`;
}

/** How long until a moment: `4 min`. */
function until(text, now) {
  const future = Date.parse(text ?? "");
  return Number.isNaN(future) ? NONE : seconds(Math.max(0, (future - now) / 1000));
}

function setting(value) {
  if (!value) return NONE;
  return value.stage === "canary" && isNumber(value.percent) ? `canary ${percent(value.percent)}` : String(value.stage);
}

const plural = (number, one, many = `${one}s`) => `${whole.format(number)} ${number === 1 ? one : many}`;

/** A value of a sample: text as it is, other JSON compact, absent as a dash. */
function sampleValue(value) {
  if (value === undefined || value === null) return NONE;
  return typeof value === "string" ? value : JSON.stringify(value);
}

const bytesOf = (text) => new TextEncoder().encode(text).length;

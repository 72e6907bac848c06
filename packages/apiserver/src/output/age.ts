/** How long ago something was, in the two figures that people read. */
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

export function ageText(timestamp: unknown, now: Date): string {
  const then = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(then) ? '<unknown>' : durationText(now.getTime() - then);
}

/** Coarser as it grows: `90s`, `3m5s`, `20m`, `5h10m`, `30h`, `3d4h`, `40d`, `2y30d`, `9y`. */
export function durationText(ms: number): string {
  if (ms <= -2 * second) return '<invalid>'; // clocks may differ by a little, not by more
  if (ms < 0) return '0s';
  if (ms < 2 * minute) return `${whole(ms, second)}s`;
  if (ms < 10 * minute) return pair(ms, [minute, 'm'], [second, 's']);
  if (ms < 3 * hour) return `${whole(ms, minute)}m`;
  if (ms < 8 * hour) return pair(ms, [hour, 'h'], [minute, 'm']);
  if (ms < 2 * day) return `${whole(ms, hour)}h`;
  if (ms < 8 * day) return pair(ms, [day, 'd'], [hour, 'h']);
  if (ms < 2 * year) return `${whole(ms, day)}d`;
  if (ms < 8 * year) return pair(ms, [year, 'y'], [day, 'd']);
  return `${whole(ms, year)}y`;
}

function whole(ms: number, unit: number): number {
  return Math.floor(ms / unit);
}

function pair(ms: number, [large, l]: [number, string], [small, s]: [number, string]): string {
  const rest = whole(ms % large, small);
  return `${whole(ms, large)}${l}${rest === 0 ? '' : `${rest}${s}`}`;
}

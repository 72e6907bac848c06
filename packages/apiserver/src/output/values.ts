/** Reading parts of objects whose form nobody has promised us. */
import { isObject } from '../json.ts';

/** The value at a dotted path, or undefined. */
export function at(object: unknown, path: string): unknown {
  let value = object;
  for (const part of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

export function items(object: unknown, path: string): readonly unknown[] {
  const value = at(object, path);
  return Array.isArray(value) ? value : [];
}

/** A value as text; `fallback` for what is not there, is empty, or has no text of its own. */
export function text(value: unknown, fallback = ''): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : fallback;
}

/** How many members an object has. */
export function count(value: unknown): number {
  return isObject(value) ? Object.keys(value).length : 0;
}

/** The first three of a list, and how many more there are. */
export function some(list: readonly string[], none: string): string {
  if (list.length === 0) return none;
  const shown = list.slice(0, 3).join(',');
  return list.length > 3 ? `${shown} + ${list.length - 3} more...` : shown;
}

/** A label selector as one line: `app=web,tier in (a,b),!legacy`. */
export function selectorText(selector: unknown): string {
  const labels = at(selector, 'matchLabels');
  const equal = Object.entries(isObject(labels) ? labels : {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${text(value)}`);
  const expressions = items(selector, 'matchExpressions').map((expression) => {
    const key = text(at(expression, 'key'));
    const values = items(expression, 'values')
      .map((value) => text(value))
      .sort()
      .join(',');
    switch (at(expression, 'operator')) {
      case 'In':
        return `${key} in (${values})`;
      case 'NotIn':
        return `${key} notin (${values})`;
      case 'DoesNotExist':
        return `!${key}`;
      default:
        return key;
    }
  });
  return [...equal, ...expressions].join(',') || '<none>';
}

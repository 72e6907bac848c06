/** Events: one store, shown as the core group's kind or as that of `events.k8s.io`. They are forgotten after an hour. */
import { events, fieldText, invalid, labelKeyProblems } from '@hutch/kube-meta';
import { type JsonObject, omit } from '../json.ts';
import { invalidValue, type Problem, required } from '../problems.ts';
import { readTyped } from '../schema/typed.ts';
import { invalidBy, unchanged } from './checks.ts';
import type { ApiObject } from './kind.ts';

const lifetimeMs = 60 * 60 * 1000;

/** Counted from the last time it happened: a repeating event lives on. */
export function eventExpiry(object: ApiObject): number {
  const times = ['series.lastObservedTime', 'lastTimestamp', 'eventTime', 'metadata.creationTimestamp'];
  const last = times.map((path) => fieldText(object, path)).find((text) => text !== '');
  return Date.parse(last ?? '') + lifetimeMs;
}

/** What the two kinds call the same thing: in the core group, in `events.k8s.io`. */
const names: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];
const toNew = new Map(names);
const toCore = new Map(names.map(([core, shown]) => [shown, core]));

export function shownEvent(object: ApiObject, apiVersion: string): ApiObject {
  const renamed = apiVersion === 'v1' ? toCore : toNew;
  const members = Object.entries(object).map(([key, value]) => [renamed.get(key) ?? key, value]);
  const type = apiVersion === 'v1' ? 'core.v1.Event' : 'events.v1.Event';
  const { metadata, kind } = object;
  // The two differ in what they write although it is empty.
  const content = readTyped(omit(Object.fromEntries(members) as JsonObject, 'metadata'), type).value;
  return { ...content, apiVersion, kind, metadata } as ApiObject;
}

interface CoreEvent extends ApiObject {
  readonly involvedObject?: { readonly namespace?: string };
  readonly eventTime?: string | null;
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
  readonly action?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly type?: string;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string | null };
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly count?: number;
  readonly source?: { readonly component?: string; readonly host?: string };
}

const maxChars = { reportingInstance: 128, action: 128, reason: 128, message: 1024 } as const;

export function validateCoreEvent(object: ApiObject): Problem[] {
  return commonProblems(object as CoreEvent, 'reportingComponent');
}

/** The newer kind leaves less open. */
export function validateNewEvent(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const problems = newEventProblems(object, old);
  // It is refused by the name of the kind it is stored as.
  if (problems.length > 0) throw invalid(events, object.metadata.name, problems);
  return [];
}

function newEventProblems(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const event = shownEvent(object, 'v1') as CoreEvent;
  const common = commonProblems(event, 'reportingController');
  if (old) return [...common, ...changeProblems(event, shownEvent(old, 'v1') as CoreEvent)];
  const { series, source = {} } = event;
  const unset = (field: string, isSet: unknown) =>
    isSet ? [invalidValue(field, '', 'needs to be unset')] : [];
  return [
    ...common,
    ...(series && (series.count ?? 0) < 2 ? [invalidValue('series.count', '', 'should be at least 2')] : []),
    ...(series && !series.lastObservedTime ? [required('series.lastObservedTime')] : []),
    ...(event.eventTime ? [] : [required('eventTime')]),
    ...(event.type === 'Normal' || event.type === 'Warning'
      ? []
      : [invalidValue('type', '', `has invalid value: ${event.type ?? ''}`)]),
    ...unset('firstTimestamp', event.firstTimestamp),
    ...unset('lastTimestamp', event.lastTimestamp),
    ...unset('count', event.count),
    ...unset('source', source.component || source.host),
  ];
}

function changeProblems(event: CoreEvent, before: CoreEvent): Problem[] {
  const fixed = [
    'involvedObject',
    'reason',
    'message',
    'type',
    'eventTime',
    'action',
    'reportingInstance',
  ] as const;
  return fixed.flatMap((field) => unchanged(field, event[field], before[field]));
}

function commonProblems(event: CoreEvent, controllerField: string): Problem[] {
  const { metadata, involvedObject = {}, reportingComponent = '' } = event;
  const { namespace = '' } = metadata;
  const about = involvedObject.namespace ?? '';
  const mismatch = [invalidValue('involvedObject.namespace', about, 'does not match event.namespace')];
  if (!event.eventTime) {
    const agrees = about === '' ? namespace === 'default' : about === namespace;
    return agrees ? [] : mismatch;
  }
  const isHomeless = about === '' && namespace !== 'default' && namespace !== 'kube-system';
  return [
    ...(isHomeless ? mismatch : []),
    ...(reportingComponent === '' ? [required(controllerField)] : []),
    ...invalidBy(controllerField, reportingComponent, labelKeyProblems(reportingComponent)),
    ...(['reportingInstance', 'action', 'reason'] as const).flatMap((field) =>
      textProblems(event[field] ?? '', field),
    ),
    ...(Buffer.byteLength(event.message ?? '') > maxChars.message ? [tooLongText('message')] : []),
  ];
}

function textProblems(text: string, field: 'reportingInstance' | 'action' | 'reason'): Problem[] {
  if (text === '') return [required(field)];
  return Buffer.byteLength(text) > maxChars[field] ? [tooLongText(field)] : [];
}

function tooLongText(field: keyof typeof maxChars): Problem {
  return invalidValue(field, '', `can have at most ${maxChars[field]} characters`);
}

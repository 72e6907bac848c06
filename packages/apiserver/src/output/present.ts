/** From what a verb answered to what the client asked to be shown: the object itself, a table, or its metadata. */
import {
  type ApiResponse,
  isStatus,
  type KubeObject,
  type ObjectList,
  type ResponseObject,
  statusFault,
  type TypeMeta,
  type WatchEvent,
} from '@hutch/kube-meta';
import { goInternalType } from '../go-types.ts';
import type { ApiObject, Kind } from '../kinds/kind.ts';
import { unexplained } from '../refusals.ts';
import { type Columns, columnsFor, scaleColumns } from './columns.ts';
import { notAcceptable, type OutputForm } from './negotiate.ts';

export interface Presentation {
  readonly form: OutputForm;
  readonly kind: Kind;
  readonly query: URLSearchParams;
  readonly now: () => Date;
}

export function present(response: ApiResponse, presentation: Presentation): ApiResponse {
  const { form } = presentation;
  if (form.shape === 'object') return response;
  switch (response.type) {
    case 'object':
      return { ...response, object: presentObject(response.object, presentation), hasUniformItems: false };
    case 'watch':
      checkTableOptions(presentation);
      return { ...response, events: presentEvents(response.events, presentation) };
    case 'stream':
      return response;
  }
}

function presentObject(object: ResponseObject, presentation: Presentation): ResponseObject {
  if (typeof object === 'string' || isStatus(object)) return object;
  const { form } = presentation;
  const list = isList(object) ? object : undefined;
  switch (form.shape) {
    case 'Table':
      checkTableOptions(presentation);
      return tableOf(list?.items ?? [object as KubeObject], presentation, {
        metadata: list
          ? listMetadata(list)
          : { resourceVersion: (object as KubeObject).metadata.resourceVersion },
        hasHeaders: presentation.query.get('noHeaders') !== 'true',
      });
    case 'PartialObjectMetadata':
      if (!list) return partial(object as KubeObject, form.apiVersion);
      throw notAcceptable(
        `you requested PartialObjectMetadata, but the requested object is a list (${goListType(list, presentation.kind)})`,
      );
    case 'PartialObjectMetadataList': {
      if (!list) throw notAList(presentation.kind);
      const items = list.items.map((item) => partial(item, form.apiVersion));
      return { ...typeOf(form), metadata: listMetadata(list), items } as ObjectList;
    }
    case 'object':
      return object;
  }
}

async function* presentEvents(
  events: AsyncIterable<WatchEvent>,
  presentation: Presentation,
): AsyncGenerator<WatchEvent, void, void> {
  let hasHeaders = true; // only the first table of a watch tells its columns
  for await (const event of events) {
    if (event.type === 'ERROR') {
      yield event;
      continue;
    }
    const object = event.object as KubeObject;
    const { form } = presentation;
    const shown =
      form.shape === 'Table'
        ? tableOf([object], presentation, {
            metadata: { resourceVersion: object.metadata.resourceVersion },
            hasHeaders,
          })
        : partial(object, form.apiVersion);
    hasHeaders = false;
    yield { ...event, object: shown } as WatchEvent;
  }
}

function isList(object: ResponseObject): object is ObjectList {
  return Array.isArray((object as Partial<ObjectList>).items);
}

/** Only a custom kind's own list says that it does not go on. */
function listMetadata({ metadata }: ObjectList): ObjectList['metadata'] {
  const { continue: token, ...rest } = metadata;
  return token ? metadata : rest;
}

/** How the server that clients know would call the type. */
function goListType(list: ObjectList, { resource, isCustom = false }: Kind): string {
  return isCustom ? '*unstructured.UnstructuredList' : `*${goInternalType({ ...resource, kind: list.kind })}`;
}

function notAList({ resource, isCustom = false }: Kind): Error {
  if (isCustom) return unexplained(500, 'content is not a list');
  const type = `*${goInternalType(resource)}`;
  return notAcceptable(
    `you requested PartialObjectMetadataList, but the requested object is not a list (${type})`,
  );
}

function typeOf({ shape, apiVersion }: OutputForm): TypeMeta {
  return { kind: shape, apiVersion };
}

function partial({ metadata }: KubeObject, apiVersion: string): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion, metadata };
}

const includes = ['', 'Metadata', 'Object', 'None'];

function checkTableOptions({ form, query }: Presentation): void {
  const include = query.get('includeObject') ?? '';
  if (form.shape !== 'Table' || includes.includes(include)) return;
  const problem = `includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw statusFault('badRequest', `Unable to convert to Table as requested: ${problem}`);
}

interface TableParts {
  readonly metadata: object;
  readonly hasHeaders: boolean;
}

function tableOf(
  objects: readonly KubeObject[],
  { form, kind, query, now }: Presentation,
  { metadata, hasHeaders }: TableParts,
): TypeMeta {
  const columns: Columns = objects[0]?.kind === 'Scale' ? scaleColumns : columnsFor(kind);
  const date = now();
  const include = query.get('includeObject') ?? '';
  const table = {
    ...typeOf(form),
    metadata,
    columnDefinitions: hasHeaders ? columns.definitions : null,
    rows: objects.map((object) => {
      const conditions = columns.conditions?.(object) ?? [];
      return {
        cells: columns.cells(object as ApiObject, date),
        ...(conditions.length > 0 ? { conditions } : {}),
        object: rowObject(object, include, form.apiVersion),
      };
    }),
  };
  return table;
}

function rowObject(object: KubeObject, include: string, apiVersion: string): KubeObject | null {
  if (include === 'None') return null;
  return include === 'Object' ? object : partial(object, apiVersion);
}

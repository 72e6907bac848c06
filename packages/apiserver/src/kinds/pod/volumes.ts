/** What may be said of a pod's volumes and of where its containers mount them. */
import { type Container, quantityNanos, type Volume } from '@hutch/kube-meta';
import {
  duplicate,
  forbiddenField,
  invalidValue,
  missingValue,
  type Problem,
  required,
  unsupportedValue,
} from '../../problems.ts';
import { dnsLabelOf, eachOf, oneOf } from '../checks.ts';
import { fieldProblems, fileFields, resourceProblems } from './env.ts';

/** The sources of the volumes that are well-formed, by name: the ones that can be mounted. */
export type Volumes = ReadonlyMap<string, Volume>;

export function volumesProblems(
  list: readonly Volume[] | undefined,
  path: string,
): { volumes: Volumes; problems: Problem[] } {
  const volumes = new Map<string, Volume>();
  const problems = eachOf(list, path, (volume, at) => {
    const { name } = volume;
    const own = [
      ...sourceProblems(volume, at),
      ...(name === '' ? [required(`${at}.name`)] : dnsLabelOf(`${at}.name`, name)),
      ...(volumes.has(name) ? [duplicate(`${at}.name`, name)] : []),
    ];
    if (own.length === 0) volumes.set(name, volume);
    return own;
  });
  return { volumes, problems };
}

type Source = Omit<Volume, 'name'>;
type Check<K extends keyof Source> = (source: NonNullable<Source[K]>, path: string) => Problem[];

/** The kinds of volumes people use, in the order they are looked at. Others are taken as they are. */
const sources: { readonly [K in keyof Source]?: Check<K> } = {
  emptyDir: ({ sizeLimit }, path) =>
    sizeLimit !== undefined && quantityNanos(sizeLimit) < 0n
      ? [forbiddenField(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
      : [],
  hostPath: ({ path: host, type = '' }, path) => {
    if (host === '') return [required(`${path}.path`)];
    return [
      ...noBacksteps(`${path}.path`, host),
      ...(hostPathTypes.includes(type) ? [] : [unsupportedValue(`${path}.type`, type, hostPathTypes)]),
    ];
  },
  secret: ({ secretName = '', defaultMode, items }, path) => [
    ...(secretName === '' ? [required(`${path}.secretName`)] : []),
    ...modeProblems(`${path}.defaultMode`, defaultMode),
    ...eachOf(items, `${path}.items`, itemProblems),
  ],
  persistentVolumeClaim: ({ claimName }, path) => (claimName === '' ? [required(`${path}.claimName`)] : []),
  downwardAPI: ({ defaultMode, items = [] }, path) => [
    ...modeProblems(`${path}.defaultMode`, defaultMode),
    ...items.flatMap((file) => fileProblems(file, path)),
  ],
  configMap: ({ name = '', defaultMode, items }, path) => [
    ...(name === '' ? [required(`${path}.name`)] : []),
    ...modeProblems(`${path}.defaultMode`, defaultMode),
    ...eachOf(items, `${path}.items`, itemProblems),
  ],
  projected: ({ defaultMode, sources: projections = [] }, path) => [
    ...modeProblems(`${path}.defaultMode`, defaultMode),
    ...projectionProblems((projections ?? []) as readonly Projection[], path),
  ],
  image: ({ reference = '', pullPolicy }, path) => [
    ...(reference === '' ? [required(`${path}.reference`)] : []),
    ...oneOf(`${path}.pullPolicy`, pullPolicy, ['Always', 'IfNotPresent', 'Never']),
  ],
};

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

function sourceProblems(volume: Volume, path: string): Problem[] {
  const order = Object.keys(sources);
  const given = Object.keys(volume)
    .filter((key) => key !== 'name')
    .sort((a, b) => order.indexOf(a) - order.indexOf(b));
  if (given.length === 0) return [required(path, 'must specify a volume type')];
  return given.flatMap((key, at) => {
    if (at > 0) return [forbiddenField(`${path}.${key}`, 'may not specify more than 1 volume type')];
    const check = sources[key as keyof Source] as ((source: unknown, place: string) => Problem[]) | undefined;
    return check?.(volume[key as keyof Volume], `${path}.${key}`) ?? [];
  });
}

function modeProblems(path: string, mode: number | undefined): Problem[] {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return [];
  return [invalidValue(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}

interface Item {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

function itemProblems({ key, path: file, mode }: Item, path: string): Problem[] {
  return [
    ...(key === '' ? [required(`${path}.key`)] : []),
    ...(file === '' ? [required(`${path}.path`)] : []),
    ...plainPath(`${path}.path`, file),
    ...modeProblems(`${path}.mode`, mode),
  ];
}

type File = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number];

function fileProblems({ path: file, fieldRef, resourceFieldRef, mode }: File, path: string): Problem[] {
  const content = fieldRef
    ? [
        ...fieldProblems(fieldRef, fileFields, `${path}.fieldRef`),
        ...(resourceFieldRef
          ? [
              invalidValue(
                path,
                'resource',
                'fieldRef and resourceFieldRef can not be specified simultaneously',
              ),
            ]
          : []),
      ]
    : resourceFieldRef
      ? resourceProblems(resourceFieldRef, `${path}.resourceFieldRef`, true)
      : [required(path, 'one of fieldRef and resourceFieldRef is required')];
  return [
    ...(file === '' ? [required(`${path}.path`)] : []),
    ...plainPath(`${path}.path`, file),
    ...content,
    ...modeProblems(`${path}.mode`, mode),
  ];
}

type Projection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

function projectionProblems(projections: readonly Projection[], path: string): Problem[] {
  const paths = new Set<string>();
  const once = (file: string, owner: string): Problem[] => {
    if (file === '' || !paths.has(file)) {
      paths.add(file);
      return [];
    }
    return [invalidValue(path, owner, 'conflicting duplicate paths')];
  };
  return eachOf(projections, `${path}.sources`, (projection, at) => {
    const { secret, configMap, downwardAPI, serviceAccountToken } = projection;
    const named = (source: typeof secret, place: string): Problem[] => {
      if (!source) return [];
      const { name = '', items } = source;
      return [
        ...(name === '' ? [required(`${place}.name`)] : []),
        ...eachOf(items, `${place}.items`, (item, where) => [
          ...itemProblems(item, where),
          ...once(item.path, name),
        ]),
      ];
    };
    return [
      ...named(secret, `${at}.secret`),
      ...named(configMap, `${at}.configMap`),
      ...(downwardAPI?.items ?? []).flatMap((file) => [
        ...fileProblems(file, `${at}.downwardAPI`),
        ...once(file.path, file.path),
      ]),
      ...(serviceAccountToken ? tokenProblems(serviceAccountToken, path, at) : []),
      ...(Object.keys(projection).length > 1
        ? [forbiddenField(at, 'may not specify more than 1 volume type per source')]
        : []),
    ];
  });
}

type Token = NonNullable<Projection['serviceAccountToken']>;

function tokenProblems({ expirationSeconds = 3600, path: file }: Token, path: string, at: string): Problem[] {
  const field = `${at}.serviceAccountToken.expirationSeconds`;
  return [
    ...(expirationSeconds < 600
      ? [invalidValue(field, expirationSeconds, 'may not specify a duration less than 10 minutes')]
      : []),
    ...(expirationSeconds > 2 ** 32
      ? [invalidValue(field, expirationSeconds, 'may not specify a duration larger than 2^32 seconds')]
      : []),
    ...(file === '' ? [required(`${path}.path`)] : plainPath(`${path}.path`, file)),
  ];
}

// ---- paths ----------------------------------------------------------------------------------------------

function noBacksteps(path: string, value: string): Problem[] {
  return value.split('/').includes('..') ? [invalidValue(path, value, "must not contain '..'")] : [];
}

export function descendingPath(path: string, value: string): Problem[] {
  const absolute = value.startsWith('/') ? [invalidValue(path, value, 'must be a relative path')] : [];
  return [...absolute, ...noBacksteps(path, value)];
}

/** A file's name inside a volume: names that begin with two dots are the volume's own. */
function plainPath(path: string, value: string): Problem[] {
  const isReserved = value.startsWith('..') && !value.startsWith('../');
  return [
    ...descendingPath(path, value),
    ...(isReserved ? [invalidValue(path, value, "must not start with '..'")] : []),
  ];
}

// ---- mounts ---------------------------------------------------------------------------------------------

export function mountsProblems(container: Container, volumes: Volumes, path: string): Problem[] {
  const seen = new Set<string>();
  const devices = container.volumeDevices ?? [];
  return eachOf(container.volumeMounts, path, (mount, at) => {
    const { name, mountPath, subPath = '', subPathExpr = '', mountPropagation } = mount;
    const isRepeated = seen.has(mountPath);
    seen.add(mountPath);
    return [
      ...(name === '' ? [required(`${at}.name`)] : []),
      ...(volumes.has(name) ? [] : [missingValue(`${at}.name`, name)]),
      ...(mountPath === '' ? [required(`${at}.mountPath`)] : []),
      ...(isRepeated ? [invalidValue(`${at}.mountPath`, mountPath, 'must be unique')] : []),
      ...(devices.some((device) => device.name === name)
        ? [invalidValue(`${at}.name`, name, 'must not already exist in volumeDevices')]
        : []),
      ...(devices.some(({ devicePath }) => devicePath === mountPath)
        ? [invalidValue(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices')]
        : []),
      ...(subPath === '' ? [] : descendingPath(`${path}.subPath`, subPath)),
      ...(subPathExpr !== '' && subPath !== ''
        ? [invalidValue(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive')]
        : []),
      ...(subPathExpr === '' ? [] : descendingPath(`${path}.subPathExpr`, subPathExpr)),
      ...propagationProblems(mountPropagation, container, `${path}.mountPropagation`),
    ];
  });
}

const propagations = ['Bidirectional', 'HostToContainer', 'None'];

function propagationProblems(
  mode: string | undefined,
  { securityContext }: Container,
  path: string,
): Problem[] {
  if (mode === undefined) return [];
  const detail = 'Bidirectional mount propagation is available only to privileged containers';
  return [
    ...(propagations.includes(mode) ? [] : [unsupportedValue(path, mode, propagations)]),
    ...(mode === 'Bidirectional' && securityContext?.privileged !== true
      ? [forbiddenField(path, detail)]
      : []),
  ];
}

export function devicesProblems(container: Container, volumes: Volumes, path: string): Problem[] {
  const names = new Set<string>();
  const paths = new Set<string>();
  return eachOf(container.volumeDevices, path, ({ name, devicePath }, at) => {
    const volume = volumes.get(name);
    const problems = [
      ...(name === '' ? [required(`${at}.name`)] : []),
      ...(names.has(name) ? [invalidValue(`${at}.name`, name, 'must be unique')] : []),
      ...(volume && !volume.persistentVolumeClaim && !volume.ephemeral
        ? [
            invalidValue(
              `${at}.name`,
              name,
              'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
            ),
          ]
        : []),
      ...(volume ? [] : [missingValue(`${at}.name`, name)]),
      ...(devicePath === '' ? [required(`${at}.devicePath`)] : []),
      ...(paths.has(devicePath) ? [invalidValue(`${at}.devicePath`, devicePath, 'must be unique')] : []),
      ...(devicePath.split('/').includes('..')
        ? [invalidValue(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')")]
        : []),
    ];
    names.add(name);
    paths.add(devicePath);
    return problems;
  });
}

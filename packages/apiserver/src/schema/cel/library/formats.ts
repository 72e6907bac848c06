import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
} from '@hutch/kube-meta';
import { type Environment, Optional } from '@marcbachmann/cel-js';
import { textFormats } from '../../formats.ts';

type Check = (text: string) => string[];

class Format {
  readonly check: Check;

  constructor(check: Check) {
    this.check = check;
  }
}

/** A name that is only begun: it may end in a dash. */
function begun(check: Check): Check {
  return (text) => check(text.endsWith('-') ? `${text.slice(0, -1)}a` : text);
}

function dns1035(text: string): string[] {
  return /^[a-z]/.test(text) ? dnsLabelProblems(text) : ['must start with an alphabetic character'];
}

function known(format: string): Check {
  return (text) => (textFormats.get(format)?.(text) === false ? [`invalid ${format}`] : []);
}

const formats: Readonly<Record<string, Check>> = {
  dns1123Label: dnsLabelProblems,
  dns1123Subdomain: dnsSubdomainProblems,
  dns1035Label: dns1035,
  qualifiedName: labelKeyProblems,
  dns1123LabelPrefix: begun(dnsLabelProblems),
  dns1123SubdomainPrefix: begun(dnsSubdomainProblems),
  dns1035LabelPrefix: begun(dns1035),
  labelValue: labelValueProblems,
  uri: known('uri'),
  uuid: known('uuid'),
  byte: known('byte'),
  date: known('date'),
  datetime: known('date-time'),
};

/** `format.dns1123Label().validate(text)` and `format.named(name)`. */
export function registerFormats(env: Environment): void {
  class Formats {}
  env.registerType('Formats', Formats);
  env.registerType('kubernetes.NamedFormat', { ctor: Format });
  env.registerConstant('format', 'Formats', new Formats());
  for (const [name, check] of Object.entries(formats)) {
    env.registerFunction(`Formats.${name}(): kubernetes.NamedFormat`, () => new Format(check));
  }
  env.registerFunction(
    'Formats.named(string): optional<kubernetes.NamedFormat>',
    (_: Formats, name: string) => {
      const check = Object.hasOwn(formats, name) ? formats[name] : undefined;
      return check ? Optional.of(new Format(check)) : Optional.none();
    },
  );
  env.registerFunction(
    'kubernetes.NamedFormat.validate(string): optional<list<string>>',
    (format: Format, text: string) => {
      const problems = format.check(text);
      return problems.length === 0 ? Optional.none() : Optional.of(problems);
    },
  );
}

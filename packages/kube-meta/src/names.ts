/**
 * Which texts may be names, label keys and label values. Each check answers with every objection, in the words
 * Kubernetes uses, and with nothing when the text is fine.
 */
const dnsLabel = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dnsSubdomain = `${dnsLabel}(\\.${dnsLabel})*`;
const qualifiedName = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${qualifiedName})?`;

const dnsLabelForm = new RegExp(`^${dnsLabel}$`);
const dnsSubdomainForm = new RegExp(`^${dnsSubdomain}$`);
const qualifiedNameForm = new RegExp(`^${qualifiedName}$`);
const labelValueForm = new RegExp(`^${labelValue}$`);

export const maxLabelLength = 63;
const maxSubdomainLength = 253;

function mustMatch(rule: string, form: string, examples: readonly string[]): string {
  // Kubernetes joins its examples with a comma and two spaces; clients compare the text.
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${rule} (e.g. ${shown}regex used for validation is '${form}')`;
}

/** Names count characters, labels bytes: so Kubernetes says, though all that either may hold are one byte each. */
function tooLong(value: string, max: number, unit = 'characters'): string[] {
  return value.length > max ? [`must be no more than ${max} ${unit}`] : [];
}

/** A name such as a namespace's: lower case letters, digits and dashes, at most 63. */
export function dnsLabelProblems(value: string): string[] {
  const problems = tooLong(value, maxLabelLength);
  if (dnsLabelForm.test(value)) return problems;
  if (dnsSubdomainForm.test(value)) return [...problems, 'must not contain dots'];
  const rule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  return [...problems, mustMatch(rule, dnsLabel, ['my-name', '123-abc'])];
}

/** A name such as a pod's: labels joined by dots, at most 253. */
export function dnsSubdomainProblems(value: string): string[] {
  const problems = tooLong(value, maxSubdomainLength);
  if (dnsSubdomainForm.test(value)) return problems;
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return [...problems, mustMatch(rule, dnsSubdomain, ['example.com'])];
}

/** What can stand in one segment of a path: all that is asked of names of kinds without a rule of their own. */
export function pathSegmentProblems(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return ['/', '%'].filter((char) => value.includes(char)).map((char) => `may not contain '${char}'`);
}

/** A key of a label, an annotation or a finalizer: `name` or `example.com/name`. */
export function labelKeyProblems(value: string): string[] {
  const parts = value.split('/');
  const name = parts.at(-1) ?? '';
  const rule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  if (parts.length > 2) {
    const message = mustMatch(`a valid label key ${rule}`, qualifiedName, ['MyName', 'my.name', '123-abc']);
    return [`${message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }

  const problems: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    if (prefix === '') problems.push('prefix part must be non-empty');
    else problems.push(...dnsSubdomainProblems(prefix).map((problem) => `prefix part ${problem}`));
  }
  if (name === '') problems.push('name part must be non-empty');
  problems.push(...tooLong(name, maxLabelLength, 'bytes').map((problem) => `name part ${problem}`));
  if (!qualifiedNameForm.test(name)) {
    problems.push(mustMatch(`name part ${rule}`, qualifiedName, ['MyName', 'my.name', '123-abc']));
  }
  return problems;
}

export function labelValueProblems(value: string): string[] {
  const problems = tooLong(value, maxLabelLength, 'bytes');
  if (labelValueForm.test(value)) return problems;
  const rule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  return [...problems, mustMatch(rule, labelValue, ['MyValue', 'my_value', '12345'])];
}

const form = '[a-z]([-a-z0-9]*[a-z0-9])?';
const formRegExp = new RegExp(`^${form}$`);

/** A name that is also a word of a language: it begins with a letter. */
export function dns1035Problems(value: string): string[] {
  const details = value.length > 63 ? ['must be no more than 63 characters'] : [];
  if (formRegExp.test(value)) return details;
  const rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
  return [...details, `${rule} (e.g. 'my-name',  or 'abc-123', regex used for validation is '${form}')`];
}

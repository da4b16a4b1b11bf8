/** Parses the output of `millrace db`. */

export interface PrintedCredentials {
  readonly id: string;
  readonly token: string;
  readonly readOnlyToken: string;
  readonly password: string;
}

export function credentialsIn(text: string): PrintedCredentials {
  const field = (label: string): string => {
    const match = new RegExp(`^${label} +(\\S+)$`, 'm').exec(text);
    if (match === null) throw new Error(`no ${label} in what was printed:\n${text}`);
    return match[1] as string;
  };
  return {
    id: field('id'),
    token: field('token'),
    readOnlyToken: field('read-only token'),
    password: field('password'),
  };
}

/** The number of today's commands, from the table of `db list`. */
export function todayIn(table: string, name: string): number {
  const [heading = '', ...rows] = table.split('\n');
  const at = heading.indexOf('TODAY');
  const row = rows.find((line) => line.split(/ {2,}/)[1] === name);
  if (at < 0 || row === undefined) throw new Error(`no ${name} in the table:\n${table}`);
  return Number.parseInt(row.slice(at), 10);
}

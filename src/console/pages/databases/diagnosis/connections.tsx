/** Who is connected and what runs: both need a connection of the native protocol, so here are the lines for it. */
import { CopyButton } from '../../../parts/code.js';
import { addressesOf } from '../connect/addresses.js';
import type { Database } from '../records.js';

const LINES = [
  ['Who is connected', 'CLIENT LIST', 'At that process alone; CLIENT KILL ID … ends one.'],
  ['Every command as it runs', 'MONITOR', 'Ends with Ctrl-C. It costs the database something: not for long.'],
  ['What is published', "PSUBSCRIBE '*'", ''],
] as const;

export function Connections({ database }: { readonly database: Database }) {
  const { host, port, isTls } = addressesOf(database, false);
  const { password = '' } = database;
  const start = `redis-cli ${isTls ? '--tls ' : ''}-h ${host} -p ${port}`;
  return (
    <div class="grid wide">
      {LINES.map(([title, words, note]) => (
        <section key={title} class="card stack tight">
          <h2>{title}</h2>
          <div class="row between">
            <code class="wrap-anywhere">{`${start} ${words}`}</code>
            <CopyButton text={`REDISCLI_AUTH='${password}' ${start} ${words}`} label="Copy with the password" />
          </div>
          {note !== '' && <p class="small muted">{note}</p>}
        </section>
      ))}
    </div>
  );
}

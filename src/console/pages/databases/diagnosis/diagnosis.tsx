/** Diagnosis of a database: INFO, slow commands, connections, live commands. */
import { useAsk } from '../../../api/ask.js';
import { command } from '../../../api/kv.js';
import { Empty, Shown } from '../../../parts/states.js';
import { Tabs, useTab } from '../../../parts/tabs.js';
import type { DatabaseView } from '../records.js';
import { Connections } from './connections.js';
import { Monitor } from './monitor.js';
import { SlowLog } from './slow-log.js';

const VIEWS = [
  { id: 'info', label: 'Info' },
  { id: 'slow', label: 'Slow commands' },
  { id: 'clients', label: 'Connections' },
  { id: 'monitor', label: 'Live commands' },
] as const;

export function DiagnosisTab({ database }: { readonly database: DatabaseView }) {
  const view = useTab(VIEWS, 'view');
  return (
    <div class="stack">
      <Tabs label="Diagnosis" tabs={VIEWS} name="view" keep={['tab']} />
      {view === 'slow' && <SlowLog id={database.database_id} />}
      {view === 'clients' && <Connections database={database} />}
      {view === 'monitor' && <Monitor id={database.database_id} />}
      {view === 'info' && <Info id={database.database_id} />}
    </div>
  );
}

const REFRESH_MS = 10_000;

function Info({ id }: { readonly id: string }) {
  const asked = useAsk(`info ${id}`, async () => sectionsOf(String(await command(id, 'INFO'))), REFRESH_MS);
  return (
    <Shown asked={asked} rows={8}>
      {(sections) =>
        sections.length === 0 ? (
          <Empty title="The database returns no information" />
        ) : (
          <div class="info-sections">
            {sections.map(({ name, lines }) => (
              <section key={name} class="card">
                <h2>{name}</h2>
                <dl class="facts">
                  {lines.map(([word, value]) => [
                    <dt key={`${word} name`}>{word}</dt>,
                    <dd key={word} class="mono">
                      {value}
                    </dd>,
                  ])}
                </dl>
              </section>
            ))}
          </div>
        )
      }
    </Shown>
  );
}

/** Parses the text of INFO into sections. */
interface InfoSection {
  readonly name: string;
  readonly lines: readonly (readonly [word: string, value: string])[];
}

/** Omits empty sections. */
function sectionsOf(text: string): readonly InfoSection[] {
  return text
    .split(/^# /m)
    .map((part) => {
      const [name = '', ...lines] = part.split('\r\n');
      return { name, lines: lines.filter((line) => line.includes(':')).map(pairOf) };
    })
    .filter(({ lines }) => lines.length > 0);
}

function pairOf(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1)];
}

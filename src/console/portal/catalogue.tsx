/** The event types that the application may choose. */
import { useAsk } from '../api/ask.js';
import { Empty, Failure, Loading } from '../parts/states.js';
import { ask } from './api.js';
import { word } from './words.js';

export function Catalogue() {
  const { data, error, reload } = useAsk('types', () => ask('GET /v2/apps/{id}/event-types'));
  if (error !== undefined) return <Failure error={error} onRetry={() => void reload()} />;
  if (data === undefined) return <Loading />;
  if (data.eventTypes.length === 0) return <Empty title={word('noEvents')} />;
  return (
    <>
      {data.eventTypes.map(({ name, description, schema, examples }) => (
        <section key={name} class="portal-item">
          <h2 class="wrap-anywhere">
            <code>{name}</code>
          </h2>
          {description !== '' && <p>{description}</p>}
          {examples.length > 0 && <Part title={word('example')} value={examples[0]} />}
          {schema !== undefined && <Part title={word('schema')} value={schema} />}
        </section>
      ))}
    </>
  );
}

function Part({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <details>
      <summary>{title}</summary>
      <pre>{JSON.stringify(value, undefined, 2)}</pre>
    </details>
  );
}

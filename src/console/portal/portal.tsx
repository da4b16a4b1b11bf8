/** The portal: the page of one application for the customer, in the operator's colours and words. */
import { setter } from '../parts/setter.js';
import '../style/tokens.css';
import '../style/base.css';
import '../style/parts.css';
import './portal.css';
import { useSignal } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { useAsk } from '../api/ask.js';
import { Questions } from '../parts/dialog.js';
import { Empty, Failure, Loading } from '../parts/states.js';
import { Toasts } from '../parts/toast.js';
import { ask, isOver, type Portal } from './api.js';
import { Endpoints } from './endpoints.js';
import { Messages } from './messages.js';
import { type PortalWord, useWords, word } from './words.js';

const TABS = ['endpoints', 'messages', 'events'] as const satisfies readonly PortalWord[];

function Page() {
  const { data, error, reload } = useAsk('portal', () => ask('GET /v2/apps/{id}/portal'));
  useEffect(() => {
    if (data !== undefined) dress(data);
  }, [data]);
  if (isOver(error)) return <Empty title={word('over')}>{word('overHint')}</Empty>;
  if (error !== undefined) return <Failure error={error} onRetry={() => void reload()} />;
  return data === undefined ? <Loading /> : <Opened portal={data} />;
}

function Opened({ portal }: { readonly portal: Portal }) {
  const tab = useSignal<(typeof TABS)[number]>('endpoints');
  const { look, application, readOnly } = portal;
  return (
    <>
      <header class="portal-head">
        {look.logo !== undefined && <img src={look.logo} alt="" />}
        <div>
          <h1>{look.title ?? word('title')}</h1>
          <p class="muted wrap-anywhere">{application.name}</p>
        </div>
      </header>
      <nav class="tabs" aria-label={word('title')}>
        {TABS.map((id) => (
          <button
            key={id}
            type="button"
            class="portal-tab"
            aria-current={tab.value === id ? 'page' : undefined}
            onClick={setter(tab, id)}
          >
            {word(id)}
          </button>
        ))}
      </nav>
      <main>
        {tab.value === 'endpoints' && <Endpoints isReadOnly={readOnly} />}
        {tab.value === 'messages' && <Messages isReadOnly={readOnly} />}
        {tab.value === 'events' && <Catalogue />}
      </main>
      <Questions />
      <Toasts />
    </>
  );
}

/** Applies the operator's title, words and colours. The text on the accent is black or white, by its lightness. */
function dress({ look, application }: Portal): void {
  useWords(look.words);
  document.title = `${look.title ?? word('title')}: ${application.name}`;
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const accent = (isDark ? look.accentDark : undefined) ?? look.accent;
  if (accent === undefined) return;
  const { style } = document.documentElement;
  for (const name of ['--accent', '--accent-hover', '--accent-active']) style.setProperty(name, accent);
  style.setProperty('--accent-text', lightnessOf(accent) > 0.36 ? '#000000' : '#ffffff');
}

/** The relative luminance of WCAG. @param colour `#rrggbb` */
function lightnessOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((from) => {
    const part = Number.parseInt(colour.slice(from, from + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const app = document.getElementById('app');
if (app !== null) render(<Page />, app);

/** The event types that the application may choose. */
function Catalogue() {
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

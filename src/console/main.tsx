/** Starts the console: loads the session, then the page of the address. */
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';
import './style/lists.css';
import './style/charts.css';
import './pages/databases/databases.css';
import './pages/overview/checklist/checklist.css';
import './pages/overview/overview.css';
import './pages/past/past.css';
import './pages/queue/queue.css';
import './pages/search/search.css';
import './pages/team/team.css';
import './pages/workflows/workflows.css';
import 'uplot/dist/uPlot.min.css';
import { render } from 'preact';
import { ErrorBoundary } from 'preact-iso/lazy';
import { LocationProvider, Route, Router } from 'preact-iso/router';
import { loadSession, session } from './api/session.js';
import { Frame } from './frame.js';
import { Empty, Loading } from './parts/states.js';
import { failed } from './parts/toast.js';
import { ROUTES } from './routes.js';
import { SignIn } from './sign-in.js';

function Console() {
  if (session.value === undefined) return <Loading />;
  if (session.value === null) return <SignIn />;
  return (
    <LocationProvider scope="/console">
      <Frame>
        <ErrorBoundary onError={onPageError}>
          <Router>
            {ROUTES.map(({ path, component }) => (
              <Route key={path} path={path} component={component} />
            ))}
            <Route default component={NoPage} />
          </Router>
        </ErrorBoundary>
      </Frame>
    </LocationProvider>
  );
}

const RELOADED = 'millrace-reloaded';
const RELOAD_AGAIN_MS = 10_000;

/** If a page's file is missing, the server has a newer build: reloads the page once. */
function onPageError(error: Error): void {
  const isGone = /dynamically imported module|module script failed/i.test(error.message);
  const before = Number(sessionStorage.getItem(RELOADED) ?? 0);
  if (!isGone || Date.now() - before < RELOAD_AGAIN_MS) {
    failed(error);
    return;
  }
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
}

function NoPage() {
  return (
    <Empty title="There is no such page">
      <a href="/console/">To the overview</a>
    </Empty>
  );
}

const app = document.getElementById('app');
if (app !== null) {
  render(<Console />, app);
  loadSession().catch(() => {
    session.value = null;
  });
}

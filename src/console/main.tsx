/** The console begins: who is signed in, then the page of the address. */
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';
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
        <ErrorBoundary onError={failed}>
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

/** Deletes a database after its name was typed. */
import { useLocation } from 'preact-iso/router';
import { manage } from '../../../api/call.js';
import { asked } from '../../../parts/dialog.js';
import { doing } from '../../../parts/toast.js';
import type { DatabaseView } from '../records.js';

export function Deletion({ database }: { readonly database: DatabaseView }) {
  const { route } = useLocation();
  const { database_id: id, database_name: name } = database;
  const remove = async () => {
    const isSure = await asked({
      title: 'Delete this database?',
      text: 'All its data and backups are deleted, and its tokens are refused from then on.',
      action: 'Delete it',
      isDangerous: true,
      typed: name,
    });
    if (!isSure) return;
    const isDone = await doing(() => manage('DELETE /v2/kv/database/{id}', { path: { id } }), `${name} is deleted.`);
    if (isDone) route('/console/databases');
  };
  return (
    <section class="card row between">
      <div>
        <h2>Delete</h2>
        <p class="muted">With all that it holds, and its backups. It cannot be taken back.</p>
      </div>
      <button type="button" class="button danger" onClick={() => void remove()}>
        Delete the database
      </button>
    </section>
  );
}

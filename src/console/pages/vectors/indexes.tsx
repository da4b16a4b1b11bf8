/** All indexes of vectors of the account, with totals, and creating one. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { Dialog } from '../../parts/dialog.js';
import { Check, Choice, SubmitRow, TextField } from '../../parts/field.js';
import { useMaking } from '../../parts/making.js';
import { IndexList, LIST_EVERY_MS } from '../search/index-list.js';
import { VECTORS } from '../search/plane.js';
import { kindOf } from './kind.js';

const BODY = '{"name":"films","region":"eu-west-1","similarity_function":"COSINE","dimension_count":384}';
const SAMPLE = `curl -u <e-mail>:<key> ${location.origin}/v2/vector/index -d '${BODY}'`;

export default function VectorIndexes() {
  const asked = useAsk('vectors', (signal) => manage('GET /v2/vector/index', { signal }), LIST_EVERY_MS);
  return (
    <IndexList
      plane={VECTORS}
      asked={asked}
      columns={[{ title: 'Kind', cell: kindOf }]}
      sample={SAMPLE}
      about="An index has namespaces of vectors by id. A query returns the nearest ones, with a filter over their metadata."
      form={(onClose) => <NewVectorIndex onClose={onClose} />}
    />
  );
}

const MODELS = ['HASHING', 'BGE_SMALL_EN_V1_5', 'BGE_BASE_EN_V1_5', 'BGE_LARGE_EN_V1_5', 'BGE_M3'];

/** The form for a new index of vectors; opens it afterwards. */
function NewVectorIndex({ onClose }: { onClose(): void }) {
  const fields = useFields();
  const { isSending, send } = useMaking(async () => {
    const made = await manage('POST /v2/vector/index', { body: bodyOf(fields) });
    return { name: made.name, href: `${VECTORS.href}/${made.id}?tab=connect` };
  }, onClose);
  return (
    <Dialog title="New vector index" onClose={onClose}>
      <form class="stack" onSubmit={send}>
        <TextField label="Name" value={fields.name} isRequired placeholder="films" />
        <KindFields {...fields} />
        <SubmitRow isDisabled={isSending.value}>Create</SubmitRow>
      </form>
    </Dialog>
  );
}

function useFields() {
  return {
    name: useSignal(''),
    kind: useSignal('DENSE'),
    metric: useSignal('COSINE'),
    dimension: useSignal('384'),
    precision: useSignal(''),
    model: useSignal(''),
    takesSparseTexts: useSignal(false),
  };
}

type Fields = ReturnType<typeof useFields>;

function bodyOf({ name, kind, metric, dimension, precision, model, takesSparseTexts }: Fields): object {
  const isDense = kind.value !== 'SPARSE';
  return {
    name: name.value.trim(),
    region: 'eu-west-1',
    index_type: kind.value,
    ...(isDense && { similarity_function: metric.value, embedding_model: model.value.trim() }),
    ...(isDense && precision.value !== '' && { precision: precision.value }),
    ...(isDense && dimension.value !== '' && { dimension_count: Number(dimension.value) }),
    ...(kind.value !== 'DENSE' && takesSparseTexts.value && { sparse_embedding_model: 'BM25' }),
  };
}

function KindFields({ kind, metric, dimension, precision, model, takesSparseTexts }: Fields) {
  const isDense = kind.value !== 'SPARSE';
  return (
    <>
      <div class="form-grid">
        <Choice
          label="Kind"
          value={kind}
          options={[
            ['DENSE', 'Dense'],
            ['SPARSE', 'Sparse'],
            ['HYBRID', 'Hybrid: both'],
          ]}
          hint="It never changes."
        />
        {isDense && (
          <Choice
            label="Similarity"
            value={metric}
            options={[
              ['COSINE', 'Cosine'],
              ['EUCLIDEAN', 'Euclidean distance'],
              ['DOT_PRODUCT', 'Dot product'],
            ]}
          />
        )}
      </div>
      {isDense && (
        <div class="form-grid">
          <TextField label="Dimensions" type="number" value={dimension} hint="From 1 to 4096." />
          <Choice
            label="Numbers that queries compare"
            value={precision}
            options={[
              ['', 'As the installation'],
              ['F32', '32 bits'],
              ['F16', '16 bits'],
              ['I8', 'Bytes'],
            ]}
            hint="Shorter ones need less memory."
          />
          <TextField
            label="Model for texts"
            value={model}
            suggestions={MODELS}
            hint="Empty: the index takes vectors only."
          />
        </div>
      )}
      {kind.value !== 'DENSE' && <Check value={takesSparseTexts} label="Make sparse vectors of texts (BM25)" />}
    </>
  );
}

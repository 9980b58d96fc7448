"""Words for actions: how tools are named that take them, and how an agent says that it has taken them.

Only actions on the world outside are here. Looking something up is no action that a user is misled about.
"""

# ruff: noqa: RUF001 - punctuation of other scripts is what is looked for

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """One is made of each, so they are compared by identity."""

    name: str
    tool_words: frozenset[str]
    """Words of a tool's name, in lower case."""
    forms: Mapping[str, str]
    """By language: alternatives of a regular expression for the form that follows "I have" there."""


def _action(name: str, tool_words: str, **forms: str) -> Action:
    return Action(
        name, frozenset(tool_words.split()), {language: form.replace(" ", "|") for language, form in forms.items()}
    )


ACTIONS: tuple[Action, ...] = (
    _action(
        "refund",
        "refund refunds reimburse reimbursement",
        en="refunded reimbursed",
        de="erstattet zurückerstattet rückerstattet",
        es="reembolsado",
        fr="remboursé",
        it="rimborsato",
        pt="reembolsei",
        zh="退款 退还 退回",
        ja="返金",
        ko="환불",
    ),
    _action(
        "cancel",
        "cancel cancellation",
        en="cancelled canceled",
        de="storniert gekündigt",
        es="cancelado anulado",
        fr="annulé résilié",
        it="annullato cancellato disdetto",
        pt="cancelei",
        zh="取消",
        ja="キャンセル 解約",
        ko="취소",
    ),
    _action(
        "book",
        "book booking reserve reservation appointment schedule",
        en="booked reserved scheduled",
        de="gebucht reserviert",
        es="reservado agendado",
        fr="réservé",
        it="prenotato riservato",
        pt="reservei agendei",
        zh="预订 预约 预定 订好",
        ja="予約",
        ko="예약",
    ),
    _action(
        "send",
        "send email mail sms notify notification invite",
        en="sent emailed mailed",
        de="gesendet geschickt verschickt gemailt",
        es="enviado",
        fr="envoyé",
        it="inviato spedito",
        pt="enviei",
        zh="发送 寄出 发给",
        ja="送信 送付",
        ko="발송 전송",
    ),
    _action(
        "delete",
        "delete remove erase purge drop",
        en="deleted erased removed",
        de="gelöscht entfernt",
        es="eliminado borrado",
        fr="supprimé effacé",
        it="eliminato rimosso",
        pt="excluí apaguei removi",
        zh="删除",
        ja="削除",
        ko="삭제",
    ),
    _action(
        "transfer",
        "transfer wire payout remit",
        en="transferred wired",
        de="überwiesen",
        es="transferido",
        fr="viré transféré",
        it="trasferito bonificato",
        pt="transferi",
        zh="转账 汇款",
        ja="振込 送金",
        ko="송금 이체",
    ),
    _action(
        "pay",
        "pay payment charge",
        en="paid charged",
        de="bezahlt",
        es="pagado cobrado",
        fr="payé",
        it="pagato addebitato",
        pt="paguei",
        zh="支付 付款",
        ja="決済 支払い",
        ko="결제",
    ),
    _action(
        "order",
        "order purchase buy checkout",
        en="ordered purchased",
        de="bestellt",
        es="pedido comprado",
        fr="commandé acheté",
        it="ordinato acquistato",
        pt="encomendei comprei",
        zh="下单 订购 购买",
        ja="注文 購入",
        ko="주문",
    ),
    _action(
        "submit",
        "submit file create open register ticket claim",
        en="submitted filed opened created registered",
        de="eingereicht angelegt",
        es="presentado creado registrado",
        fr="soumis créé déposé",
        it="presentato creato registrato",
        pt="criei registrei enviei",
        zh="提交 创建 登记",
        ja="申請 作成 登録",
        ko="접수 등록",
    ),
    _action(
        "reset",
        "reset unlock",
        en="reset unlocked",
        de="zurückgesetzt entsperrt",
        es="restablecido desbloqueado",
        fr="réinitialisé débloqué",
        it="reimpostato sbloccato",
        pt="redefini desbloqueei",
        zh="重置 解锁",
        ja="リセット 解除",
        ko="초기화",
    ),
    _action(
        "change",
        "change update modify edit set move reschedule",
        en="changed updated modified rescheduled",
        de="geändert aktualisiert umgebucht",
        es="cambiado actualizado modificado",
        fr="modifié changé",
        it="modificato aggiornato cambiato",
        pt="alterei atualizei",
        zh="修改 更改 更新 变更",
        ja="変更 更新",
        ko="변경",
    ),
    _action(
        "verify",
        "verify authenticate",
        en="verified authenticated",
        de="verifiziert",
        es="verificado",
        fr="vérifié",
        it="verificato",
        pt="verifiquei",
        zh="验证 核实",
        ja="認証",
        ko="인증",
    ),
)

WRITTEN = (
    r"\b(?:drafts?|texts?|summar(?:y|ies)|wording|paragraphs?|sentences?|lists?|tables?|outlines?|answers?|responses?|"
    r"versions?|examples?|code|snippets?|scripts?|functions?|stor(?:y|ies)|poems?|essays?|translations?|titles?|"
    r"sections?|bullets?|itinerar(?:y|ies)|recipes?|overviews?|comparisons?|explanations?|tone|style|jokes?|"
    r"entw[uü]rfe?|zusammenfassung|formulierung(?:en)?|abs[aä]tze?|absatz|s[aä]tze?|satz|listen?|tabellen?|gliederung|"
    r"antwort(?:en)?|fassung|beispiele?|skript|funktion|geschichte|gedicht|übersetzung|titel|abschnitte?|übersicht|"
    r"vergleich|erklärung|ton|stil|"
    r"borrador|textos?|resumen|redacción|párrafos?|frases?|listas?|tablas?|esquema|respuestas?|versi[oó]n(?:es)?|"
    r"ejemplos?|código|funci[oó]n|historia|poema|traducción|título|sección|tono|estilo|"
    r"brouillon|textes?|résumés?|formulation|paragraphes?|phrases?|listes?|tableaux?|réponses?|exemples?|fonction|"
    r"histoire|poème|traduction|titre|"
    r"bozza|testi?|testo|riassunto|formulazione|paragrafi?|paragrafo|frasi|elenco|tabella|risposta|versione|esempi?o?|"
    r"codice|funzione|storia|poesia|traduzione|titolo|sezione|stile|"
    r"rascunho|resumo|redação|parágrafos?|tabelas?|respostas?|versão|exemplos?|função|história|tradução|seção|tom)\b|"
    r"草稿|文本|文字|摘要|总结|措辞|段落|句子|列表|清单|表格|大纲|回答|回复|版本|示例|例子|代码|函数|故事|译文|翻译|标题|概述|说明|文案|"
    r"下書き|文章|テキスト|要約|表現|段落|一覧|リスト|回答|コード|関数|物語|翻訳|タイトル|概要|説明|"
    r"초안|텍스트|요약|문구|단락|문장|목록|답변|버전|예시|코드|함수|이야기|번역|제목|개요|설명"
)
"""What an agent writes in its answer itself: that it has created or changed such a thing needs no tool."""
WRITING = frozenset({"submit", "change", "delete"})
"""Names of the actions that such things may be an object of."""

TROUBLE = (
    r"\b(?:sorry|apolog\w*|unable|unfortunately|fail\w*|errors?|problems?|issues?|trouble|declined|rejected|unsuccessful\w*|"
    r"(?:could|can|did|was|is|has|have|does|do|will)(?:n['’]?t| not)|cannot|try(?:ing)? again|"
    r"leider|fehler\w*|konnte\w*|fehlgeschlagen|nicht|"
    r"lamento|siento|problemas?|no (?:pude|se pudo|ha sido|fue|es posible)|fall[óo]|"
    r"désolée?|erreurs?|problèmes?|n['’](?:ai|a|est) pas|échou\w*|impossible|"
    r"dispiace|errore|problema|non (?:sono|è|ho)|fallit\w*|desculp\w*|falh\w*|erro|não (?:foi|consegui))\b|"
    r"抱歉|对不起|失败|错误|无法|未能|没有|没能|不能|问题|申し訳|失敗|エラー|できません|問題|죄송|실패|오류|문제|못했"
)
"""An answer with any of these owns up to trouble, so it is not the plain claim of success that is looked for."""

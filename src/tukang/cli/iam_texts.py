"""The sentences of `tukang tools iam`, in both languages. Texts only."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tukang.loop.events import Language


class IamTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences in one language."""

    how: str
    model: str
    region: str
    account: str
    asks: str
    hosted: str
    log_table: str
    nothing: str


IAM_TEXTS: Mapping[Language, IamTexts] = {
    "id": IamTexts(
        how="Tulis: tukang tools iam ASISTEN [--region …] [--account …] [--asks ARN] [--hosted ARN [--log-table NAMA]]",
        model="Untuk iam: model yang akan ditanya; tanpa: model agen itu sendiri",
        region="Untuk iam: region model; tanpa: AWS_REGION",
        account="Untuk iam: nomor akun AWS, dua belas angka",
        asks="Untuk iam: state machine yang bertanya kepada orang",
        hosted="Untuk iam: fungsi Lambda yang menyediakan alat-alat ini; kebijakannya untuk role fungsi itu",
        log_table="Untuk iam: tabel DynamoDB tempat fungsi itu mencatat panggilan",
        nothing="Tidak ada izin AWS yang dibutuhkan.",
    ),
    "en": IamTexts(
        how="Write: tukang tools iam ASSISTANT [--region …] [--account …] [--asks ARN] [--hosted ARN [--log-table NAME]]",
        model="For iam: the model that is to be asked; left out: the agent's own",
        region="For iam: the model's region; left out: AWS_REGION",
        account="For iam: the AWS account, twelve digits",
        asks="For iam: the state machine that asks people",
        hosted="For iam: the Lambda function that hosts these tools; the policy is its role's",
        log_table="For iam: the DynamoDB table where that function writes calls down",
        nothing="No permission of AWS is needed.",
    ),
}
